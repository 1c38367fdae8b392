// A button on each block of code copies what can be run: without prompts, and without the output of a session.
document.querySelectorAll("div.highlight pre").forEach((block) => {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    const lines = [...block.childNodes].map((node) => node.textContent).join("").split("\n");
    const typed = lines.filter((line) => /^(>>>|\.\.\.|\$)( |$)/.test(line)).map((line) => line.replace(/^(>>>|\.\.\.|\$) ?/, ""));
    await navigator.clipboard.writeText((typed.length ? typed : lines).join("\n").trimEnd() + "\n");
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
  block.parentElement.append(button);
});
