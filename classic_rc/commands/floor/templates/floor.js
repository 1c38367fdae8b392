"use strict";
// A heading sorts the rows by its column: numbers from the highest, texts from A; again, the other way round.
for (const button of document.querySelectorAll("#floors .sort")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = document.querySelector("#floors tbody"), at = head.cellIndex;
    const order = (row) => row.cells[at].dataset.order;
    const rows = [...body.rows];
    const isText = rows.some((row) => order(row) !== "" && Number.isNaN(Number(order(row))));
    const before = head.getAttribute("aria-sort");
    const ascending = before === "none" ? isText : before === "descending";
    const sign = ascending ? 1 : -1;
    rows.sort((a, b) => {
      const [x, y] = [order(a), order(b)];
      if (x === "" || y === "") return (x === "") - (y === ""); // what is missing stays last
      return sign * (isText ? x.localeCompare(y) : Number(x) - Number(y));
    });
    body.append(...rows);
    for (const other of head.parentElement.cells) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  });
}
