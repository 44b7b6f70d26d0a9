// Keys work at once, without a click: textual.js makes the terminal when the page has loaded, before this.
addEventListener("load", () => document.querySelector(".xterm-helper-textarea").focus());
