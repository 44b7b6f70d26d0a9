// Keys work at once, without a click. textual.js marks the body when the app draws first; before that it could
// not tell the app about the focus.
addEventListener("DOMContentLoaded", () => {
  const watch = new MutationObserver(() => {
    if (document.body.classList.contains("-first-byte")) {
      watch.disconnect();
      document.querySelector(".xterm-helper-textarea").focus();
    }
  });
  watch.observe(document.body, { attributeFilter: ["class"] });
});
