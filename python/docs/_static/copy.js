// Adds a button to each block of code that copies its text.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight-python, div.highlight-console, div.highlight-text")) {
    const button = document.createElement("button");
    button.className = "copy-code";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      const text = block.querySelector("pre").textContent.replace(/^\$ /gm, "");
      navigator.clipboard.writeText(text).then(() => {
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 1500);
      });
    });
    block.appendChild(button);
  }
});
