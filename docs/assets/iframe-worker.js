// SPDX-License-Identifier: GPL-2.0-or-later
// A browser starts no Worker for a page that was opened from disk. There the site's search runs in a hidden frame instead,
// which has the same origin; messages in both directions are events, as a Worker's are.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => this.receive(data);
      const script = inner.document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = () => {
        this.frame = inner;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      };
      inner.document.documentElement.append(script);
    }
    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
    postMessage(data) {
      if (!this.frame) return void this.waiting.push(data);
      setTimeout(() => this.frame.dispatchEvent(new this.frame.MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
