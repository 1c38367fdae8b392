"use strict";
// Browses the questions of a report. Texts of the data become text nodes and nothing else.
(() => {
  const PAGE = 25;
  const VERDICTS = { r: ["right", "right"], p: ["partly", "partly right"], w: ["wrong", "wrong"] };
  const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/gu;
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const systems = data.systems.map((system, number) => ({ ...system, number })).filter((s) => !s.expected);
  const members = data.groups.map((group) => group.members.map((of) => new Set(of)));
  const explainedFirst = systems.findIndex((system) => system.number === data.explained[0]?.system);
  const state = { find: "", system: Math.max(0, explainedFirst), show: "", groups: data.groups.map(() => ""), page: 0, open: null };

  // Building

  function element(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {})) {
      if (key in made) made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children);
    return made;
  }

  // Characters that would control or reorder the text around them are spelled out, as everywhere in this package.
  function visible(text, keep = "") {
    return text.replace(UNSAFE, (c) => {
      if (keep.includes(c)) return c;
      const named = { "\t": "\\t", "\n": "\\n", "\r": "\\r" }[c];
      const code = c.codePointAt(0).toString(16);
      return named || (code.length <= 2 ? "\\x" + code.padStart(2, "0") : "\\u" + code.padStart(4, "0"));
    });
  }

  const number = (value) => String(value).replace("-", "\u2212");
  const letter = (index) => (index < 26 ? String.fromCharCode(65 + index) : String(index));
  const badge = (kind, text) => element("span", { className: `badge ${kind}` }, text);
  const isolated = (text) => element("bdi", {}, visible(text));

  function verdicts(system, index, who = "") {
    const code = system.verdicts[index];
    const [kind, name] = VERDICTS[code];
    const badges = [badge(kind, who + (code === "p" ? `${name}: ${number(system.credits[index])}` : name))];
    if (system.tied[index]) badges.push(badge("", `tie of ${system.tied[index]}`));
    return badges;
  }

  // Choosing

  const haystacks = [];
  const passages = [];
  function contains(index, needle) {
    const [id, passage, text, options, right] = data.questions[index];
    haystacks[index] ??= [id, text, ...(data.choices ? options : right)].join("\n").toLowerCase();
    passages[passage] ??= data.passages[passage].toLowerCase();
    return haystacks[index].includes(needle) || passages[passage].includes(needle);
  }

  function chosen() {
    const system = systems[state.system];
    const needle = state.find.trim().toLowerCase();
    const found = [];
    for (let i = 0; i < data.questions.length; i++) {
      if (state.show === "t" ? !system.tied[i] : state.show && system.verdicts[i] !== state.show) continue;
      if (state.groups.some((value, g) => value !== "" && !members[g][value].has(i))) continue;
      if (!needle || contains(i, needle)) found.push(i);
    }
    return found;
  }

  function render() {
    const found = chosen();
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    if (found.includes(state.open)) state.page = Math.floor(found.indexOf(state.open) / PAGE);
    state.page = Math.min(state.page, pages - 1);
    const first = state.page * PAGE;
    const shown = found.slice(first, first + PAGE);
    $("list").replaceChildren(...shown.map(row));
    const of = `${found.length.toLocaleString("en")} of ${data.questions.length.toLocaleString("en")} questions`;
    $("count").textContent = pages > 1 ? `${of}, ${first + 1} to ${first + shown.length} shown` : of;
    $("page").textContent = `page ${state.page + 1} of ${pages}`;
    $("pages").hidden = pages === 1;
    $("back").disabled = state.page === 0;
    $("next").disabled = state.page === pages - 1;
  }

  function row(index) {
    const [id, , text] = data.questions[index];
    const system = systems[state.system];
    const badges = system ? verdicts(system, index, `${visible(system.name)}: `) : [];
    const summary = element(
      "summary", {},
      isolated(text),
      ...badges.flatMap((made) => [" ", made]),
      element("span", { className: "id" }, isolated(id)),
    );
    const details = element("details", {}, summary);
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(card(index));
      if (details.open) state.open = index;
      else if (state.open === index) state.open = null;
      remember();
    });
    details.open = index === state.open;
    return element("li", {}, details);
  }

  // One question: HTML of our own making, compressed, some questions at once

  const unpacked = new Map();
  function cards(number) {
    if (!unpacked.has(number)) {
      const bytes = Uint8Array.from(atob(data.cards[number]), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      unpacked.set(number, new Response(stream).json());
    }
    return unpacked.get(number);
  }

  function card(index) {
    const place = element("div", { className: "card" });
    cards(Math.floor(index / PAGE)).then((all) => {
      place.innerHTML = all[index % PAGE];
      const chosen = systems[state.system];
      const number = data.explained.findIndex((of) => of.system === chosen?.number);
      if (data.explained.length && chosen && number < 0) {
        const name = visible(chosen.name);
        place.append(element("p", { className: "small" }, `--explain ${name} adds an explanation of ${name}.`));
      }
      place.querySelectorAll("fieldset")[number]?.querySelector("input").click();
      place.append(outcomes(index));
    });
    return place;
  }

  function outcomes(index) {
    return table("outcomes", "what each system answers", ["system", "answer", "which is"], systems.map((system) =>
      [system.name, answered(system.answers[index]), element("span", {}, ...verdicts(system, index).flatMap((made) => [made, " "]))]));
  }

  function answered(answer) {
    if (answer === null) return "\u2013";
    if (!answer.length) return "nothing";
    return data.choices ? answer.map(letter).join(", ") : isolated(answer.join(" / "));
  }

  function table(className, caption, header, rows) {
    const cell = (content, i) => element(i ? "td" : "th", i ? {} : { scope: "row" }, content);
    const head = header.map((name) => element("th", { scope: "col" }, name));
    return element("div", { className: "wide" }, element("table", { className },
      element("caption", {}, caption),
      ...(head.length ? [element("thead", {}, element("tr", {}, ...head))] : []),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map(cell))))));
  }

  // The address keeps what is chosen, so that it can be shared

  function remember() {
    const parameters = new URLSearchParams();
    if (state.find) parameters.set("find", state.find);
    if (systems.length) parameters.set("system", systems[state.system].name);
    if (state.show) parameters.set("show", VERDICTS[state.show]?.[0] || "tie");
    state.groups.forEach((value, g) => value !== "" && parameters.set(`by-${data.groups[g].name}`, data.groups[g].values[value]));
    if (state.page) parameters.set("page", state.page + 1);
    if (state.open !== null) parameters.set("question", data.questions[state.open][0]);
    const text = parameters.toString();
    history.replaceState(null, "", text ? `#questions?${text}` : "#questions");
  }

  function recall() {
    if (!location.hash.startsWith("#questions?")) return;
    const parameters = new URLSearchParams(location.hash.slice("#questions?".length));
    const code = Object.entries({ ...VERDICTS, t: ["tie"] }).find(([, [name]]) => name === parameters.get("show"));
    const open = parameters.has("question") ? data.questions.findIndex(([id]) => id === parameters.get("question")) : -1;
    Object.assign(state, {
      find: parameters.get("find") || "",
      system: parameters.has("system") ? Math.max(0, systems.findIndex((s) => s.name === parameters.get("system"))) : state.system,
      show: systems.length && code ? code[0] : "",
      groups: data.groups.map((g) => {
        const at = g.values.indexOf(parameters.get(`by-${g.name}`));
        return at < 0 ? "" : String(at);
      }),
      page: Math.max(0, (parseInt(parameters.get("page"), 10) || 1) - 1),
      open: open < 0 ? null : open,
    });
    if (state.open !== null && !chosen().includes(state.open)) {
      Object.assign(state, { find: "", show: "", groups: data.groups.map(() => "") });
    }
    fill();
    render();
    (document.querySelector("#list details[open]") || $("questions")).scrollIntoView();
  }

  function fill() {
    $("find").value = state.find;
    if (systems.length) $("system").value = state.system;
    $("show").value = state.show;
    state.groups.forEach((value, g) => { $(`group-${g}`).value = value; });
  }

  function change(changes) {
    Object.assign(state, { page: 0, open: null }, changes);
    render();
    remember();
  }

  function turn(by) {
    state.page += by;
    state.open = null;
    render();
    remember();
    $("count").scrollIntoView({ block: "nearest" });
  }

  $("system").append(...systems.map((system, i) => element("option", { value: i }, system.name)));
  data.groups.forEach((group, g) => {
    const select = element("select", { id: `group-${g}` }, element("option", { value: "" }, "all"),
      ...group.values.map((value, i) => element("option", { value: i }, visible(value))));
    select.addEventListener("change", () => change({ groups: state.groups.map((value, i) => (i === g ? select.value : value)) }));
    $("filters").append(element("p", {}, element("label", { htmlFor: `group-${g}` }, visible(group.name)), " ", select));
  });
  let waiting;
  $("find").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => change({ find: $("find").value }), 120);
  });
  $("system").addEventListener("change", () => change({ system: Number($("system").value), open: state.open }));
  $("show").addEventListener("change", () => change({ show: $("show").value }));
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("back").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  addEventListener("hashchange", recall);
  if (!systems.length) for (const id of ["system", "show"]) $(id).parentElement.hidden = true;
  $("filters").hidden = false;
  fill();
  render();
  recall();
})();
