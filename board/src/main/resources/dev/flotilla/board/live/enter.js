'use strict';
// Exchanges the link's token for a cookie. The token leaves the address bar first, so that it stays in no history.
(() => {
  const say = text => { document.getElementById('say').textContent = text; };

  async function enter() {
    const token = new URLSearchParams(location.hash.slice(1)).get('t');
    if (token) history.replaceState(null, '', '/');
    try {
      if (token) {
        const reply = await fetch('/api/session', {method: 'POST', body: token});
        if (!reply.ok) return say('This link was used already, or is not from this board. Open the newest link that the terminal shows.');
      }
      // A link on another site opens this page without its cookie; asked for from here, it is sent.
      const known = await fetch('/api/session');
      if (known.ok) return location.reload();
      say(token ? 'This browser keeps no cookie for the board. Allow cookies for this address, then open the newest link of the terminal.'
                : 'Open the link that flotilla board has shown in its terminal.');
    } catch (gone) {
      say('The board does not answer: is it still running?');
    }
  }

  addEventListener('hashchange', () => { if (location.hash) enter(); });
  enter();
})();
