// A page whose title has all words that are searched for comes first; the shorter its title, the earlier.
var Scorer = {
  score: ([, title, anchor, , score]) => {
    const words = (text) => text.toLowerCase().replace(/<[^>]*>/g, "").split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    const asked = words(new URLSearchParams(location.search).get("q") || ""), own = words(title);
    const named = asked.length && asked.every((word) => own.includes(word));
    return score + (named && !anchor ? 1000 / own.length : 0);
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
