import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { testCertificate } from '@sluice/testkit';

/** TLS in front of a gateway: the vendor's clients speak nothing else. */
export async function tlsInFront(origin: string) {
  const { hostname, port } = new URL(origin);
  const server = createTlsServer(
    { key: testCertificate('server-key'), cert: testCertificate('server') },
    (socket) => {
      const behind = connect(Number(port), hostname);
      pipeline(socket, behind, socket, () => {});
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => server.close(),
  };
}

/** As a page of another origin sees it; RTCPeerConnection is the browser's own. */
const placeCall = `async ({ secret, at }) => {
  const peer = new RTCPeerConnection();
  peer.createDataChannel('oai-events');
  peer.addTransceiver('audio');
  const offer = await peer.createOffer();
  const answer = await fetch(at, {
    method: 'POST',
    body: offer.sdp,
    headers: { authorization: 'Bearer ' + secret, 'content-type': 'application/sdp' },
  });
  return { status: answer.status, location: answer.headers.get('location'), sdp: await answer.text(), offer: offer.sdp };
}`;

/** Talks and places a call in the machine's own Chromium, with the secret alone. */
export async function inChromium(executablePath: string, secret: string, gateway: string) {
  const [{ chromium }, { rolldown }] = await Promise.all([
    import('playwright-core'),
    import('rolldown'),
  ]);
  const here = dirname(fileURLToPath(import.meta.url));
  const bundle = await rolldown({ input: join(here, 'browser-page.ts'), platform: 'browser' });
  const { output } = await bundle.generate({ format: 'esm' });
  const page = createServer((req, res) => {
    const isScript = req.url === '/page.js';
    res.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    res.end(isScript ? output[0].code : '<script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  const tls = await tlsInFront(gateway);
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--ignore-certificate-errors',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://127.0.0.1:${(page.address() as AddressInfo).port}/`);
    await tab.waitForFunction('globalThis.talk !== undefined');
    const usage = await tab.evaluate(`talk(${JSON.stringify(secret)}, '${tls.origin}/v1')`);
    const asked = JSON.stringify({ secret, at: `${gateway}/v1/realtime/calls` });
    const call = await tab.evaluate(`(${placeCall})(${asked})`);
    return { usage, call } as {
      usage: unknown;
      call: { status: number; location: string | null; sdp: string; offer: string };
    };
  } finally {
    await browser.close();
    tls.close();
    page.close();
  }
}
