import { createHash } from 'node:crypto';
import { type McpRight, mcpRightsOf } from '@sluice/contracts';

/** What a browser is shown: no script, nothing from elsewhere, in nobody's frame. */
export interface Page {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem;color:#222}
h1{font-size:1.4rem}dt{font-weight:600;margin-top:.6rem}dd{margin:0;overflow-wrap:anywhere}
input[type=password],select{width:100%;padding:.5rem;font:inherit;box-sizing:border-box}
button{font:inherit;padding:.5rem 1.2rem;margin:1rem .5rem 0 0;cursor:pointer}.fault{color:#a00}.small{font-size:.85rem;color:#555}`;
const styleHash = createHash('sha256').update(style).digest('base64');

/** @param answersTo  origin, or scheme, that a form's answer may lead to; browsers hold redirects after a form to this */
function page(title: string, body: string, answersTo?: string): Page {
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex"><title>${escaped(title)}</title><style>${style}</style></head>
<body><main><h1>${escaped(title)}</h1>
${body}
</main></body></html>
`;
  const forms = answersTo === undefined ? "'self'" : `'self' ${answersTo}`;
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${forms}; frame-ancestors 'none'; base-uri 'none'`,
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  };
}

/** For text and for values of attributes in double quotes. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** What somebody else named: nothing in it turns the text round or hides (bidi, zero width, controls), and it is short. */
export function plainName(name: string): string {
  const plain = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim();
  return plain.length > 80 ? `${plain.slice(0, 80)}…` : plain === '' ? '(no name)' : plain;
}

export interface Asking {
  readonly clientName: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** Against forms of other sites. */
  readonly proof: string;
  /** Where the form goes. */
  readonly action: string;
}

/** An organisation whose people log in at an OpenID provider. */
export interface OpenIdChoice {
  readonly id: string;
  readonly name: string;
}

/** @param organisations  where a person may log in elsewhere */
export function loginPage(
  asking: Asking,
  fault?: string,
  organisations: readonly OpenIdChoice[] = [],
): Page {
  const elsewhere = organisations
    .map(
      ({ id, name }) =>
        `<form method="post" action="${escaped(asking.action)}"><input type="hidden" name="proof" value="${escaped(asking.proof)}"><input type="hidden" name="organisation" value="${escaped(id)}"><button name="do" value="openid">Log in at ${escaped(plainName(name))}</button></form>`,
    )
    .join('\n');
  return page(
    'Log in',
    `<p><strong>${escaped(plainName(asking.clientName))}</strong> asks to use an MCP server on your behalf. Log in with your own key of the workspace; the client never sees it.</p>
${fault === undefined ? '' : `<p class="fault" role="alert">${escaped(fault)}</p>`}
<form method="post" action="${escaped(asking.action)}" autocomplete="off">
<input type="hidden" name="proof" value="${escaped(asking.proof)}">
<label for="key">Your user key</label>
<input id="key" name="key" type="password" required maxlength="256" autocomplete="off" spellcheck="false" autofocus>
<button name="do" value="login">Log in</button></form>
${elsewhere}
<form method="post" action="${escaped(asking.action)}"><input type="hidden" name="proof" value="${escaped(asking.proof)}"><button name="do" value="deny">Cancel</button></form>`,
    answerSource(asking.redirectUri),
  );
}

/** Of somebody whom the OpenID provider knows, and who has keys in several workspaces. */
export function workspacePage(
  asking: Asking,
  back: string,
  people: readonly { secretId: string; workspaceName: string }[],
): Page {
  const options = people.map(
    ({ secretId, workspaceName }) =>
      `<option value="${escaped(secretId)}">${escaped(plainName(workspaceName))}</option>`,
  );
  return page(
    'Choose a workspace',
    `<form method="post" action="${escaped(asking.action)}">
<input type="hidden" name="proof" value="${escaped(asking.proof)}"><input type="hidden" name="back" value="${escaped(back)}">
<label for="secret">Workspace</label>
<select id="secret" name="secret" required>${options.join('')}</select>
<button name="do" value="choose">Go on</button></form>`,
    answerSource(asking.redirectUri),
  );
}

/** A link, as for an MCP server's accounts: where it leads is known only now. */
export function openIdPage(address: URL): Page {
  return page(
    'Log in',
    `<p>You log in at <strong>${escaped(address.host)}</strong>, and come back here.</p>
<p><a id="go-on" href="${escaped(address.href)}" rel="noreferrer">Go on to ${escaped(address.host)}</a></p>`,
  );
}

export interface ConsentAsking extends Asking {
  readonly personName: string;
  readonly workspaceName: string;
  /** The server that was asked for, or those that there are to choose from. */
  readonly server:
    | { readonly name: string }
    | { readonly choices: readonly { slug: string; name: string }[] };
  readonly scope: string;
}

const rightsInWords: Readonly<Record<McpRight, string>> = {
  list: 'see which tools, resources and prompts there are',
  read: 'read resources and prompts',
  call: 'call tools',
};

export function consentPage(asking: ConsentAsking): Page {
  const { server } = asking;
  const rights = [...mcpRightsOf(asking.scope)].map((right) => `<li>${rightsInWords[right]}</li>`);
  const which =
    'name' in server
      ? escaped(plainName(server.name))
      : `<select name="server" required>${server.choices
          .map(
            ({ slug, name }) =>
              `<option value="${escaped(slug)}">${escaped(plainName(name))}</option>`,
          )
          .join('')}</select>`;
  return page(
    'Let this client in?',
    `<form method="post" action="${escaped(asking.action)}">
<input type="hidden" name="proof" value="${escaped(asking.proof)}">
<dl>
<dt>Client</dt><dd><strong>${escaped(plainName(asking.clientName))}</strong> <span class="small">(it calls itself so)</span></dd>
<dt>Its id</dt><dd class="small">${escaped(asking.clientId)}</dd>
<dt>The answer goes to</dt><dd><strong>${escaped(answerPlace(asking.redirectUri))}</strong></dd>
<dt>You</dt><dd>${escaped(plainName(asking.personName))}</dd>
<dt>Workspace</dt><dd>${escaped(plainName(asking.workspaceName))}</dd>
<dt>MCP server</dt><dd>${which}</dd>
<dt>It could</dt><dd><ul>${rights.join('')}</ul></dd>
</dl>
<p class="small">Go on only if you began this in that client just now.</p>
<button name="do" value="allow">Let it in</button><button name="do" value="deny" formnovalidate>Refuse</button><button name="do" value="switch" formnovalidate>Use another key</button></form>`,
    answerSource(asking.redirectUri),
  );
}

/** Of a person who signs in at an MCP server by themselves. */
export interface SigningInAt {
  readonly serverName: string;
  /** Against forms of other sites. */
  readonly proof: string;
  readonly action: string;
}

export function upstreamLoginPage(asking: SigningInAt, fault?: string): Page {
  return page(
    'Sign in at an MCP server',
    `<p>The MCP server <strong>${escaped(plainName(asking.serverName))}</strong> wants to know you. Log in here with your own key of the workspace first; you then go on to where the server has its accounts.</p>
${fault === undefined ? '' : `<p class="fault" role="alert">${escaped(fault)}</p>`}
<form method="post" action="${escaped(asking.action)}" autocomplete="off">
<input type="hidden" name="proof" value="${escaped(asking.proof)}">
<label for="key">Your user key</label>
<input id="key" name="key" type="password" required maxlength="256" autocomplete="off" spellcheck="false" autofocus>
<button name="do" value="login">Log in</button></form>`,
  );
}

/** A link, which the person follows: forms may not lead to a host that is known only now. */
export function goOnPage(serverName: string, address: URL): Page {
  return page(
    'Sign in at an MCP server',
    `<p>The MCP server <strong>${escaped(plainName(serverName))}</strong> has its accounts at <strong>${escaped(address.host)}</strong>. What you let us do there is done for you alone.</p>
<p><a id="go-on" href="${escaped(address.href)}" rel="noreferrer">Go on to ${escaped(address.host)}</a></p>`,
  );
}

export function signedInPage(serverName: string): Page {
  return page(
    'You are signed in',
    `<p>The MCP server <strong>${escaped(plainName(serverName))}</strong> knows you now. Go back to where you came from, and go on there.</p>`,
  );
}

/** @param goOn  where the person goes on without it */
export function notSignedInPage(code: string, description: string, goOn: string | undefined): Page {
  const next =
    goOn === undefined
      ? '<p>Go back to the client, and begin anew there.</p>'
      : `<p><a id="go-on" href="${escaped(goOn)}">Go on without it</a></p>`;
  return page(
    'You are not signed in',
    `<p>${escaped(description)}</p><p class="small">${escaped(code)}</p>${next}`,
  );
}

/** @param description  for whoever runs the client */
export function errorPage(error: string, description: string | undefined): Page {
  return page(
    'This cannot go on',
    `<p>${escaped(description ?? 'The request cannot be answered.')}</p><p class="small">${escaped(error)}</p><p>Go back to the client, and begin anew there.</p>`,
  );
}

/** Where an answer goes, as somebody should read it: the host, or the app's scheme. */
function answerPlace(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  if (protocol === 'http:') return `an app on this computer (${host})`;
  return protocol === 'https:' ? host : `an app that opens ${protocol}`;
}

function answerSource(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri);
  if (url === null) return undefined;
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : url.protocol;
}
