/** As much of a browser as a log-in needs: cookies by path, forms as they stand in pages, no script, no redirects but when told. */
export class Browser {
  readonly #base: string;
  readonly #cookies = new Map<string, { value: string; path: string }>();

  constructor(base: string) {
    this.#base = base;
  }

  async get(url: string): Promise<Response> {
    return this.#send(url, {});
  }

  async post(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
    return this.#send(url, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: new URL(this.#base).origin, ...headers },
    });
  }

  /** Follows redirects for as long as they stay here; the last answer, or the redirect that leads away. */
  async follow(url: string): Promise<Response> {
    return this.#followed(await this.get(url));
  }

  /** Sends the page's form as a person would: with what is hidden in it, and these. */
  async submit(page: { url: string; html: string }, fields: Record<string, string>) {
    const hidden = Object.fromEntries(
      [...page.html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
        ([, name, value]) => [name, value] as [string, string],
      ),
    );
    return this.#followed(await this.post(page.url, { ...hidden, ...fields }));
  }

  async #followed(first: Response): Promise<Response> {
    let answer = first;
    for (let hops = 0; hops < 10; hops += 1) {
      const location = answer.headers.get('location');
      if (location === null) return answer;
      const next = new URL(location, this.#base);
      if (next.origin !== new URL(this.#base).origin) return answer;
      answer = await this.get(next.href);
    }
    throw new Error('redirects without an end');
  }

  async #send(address: string, init: RequestInit): Promise<Response> {
    const url = new URL(address, this.#base);
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name.split(' ')[0]}=${value}`)
      .join('; ');
    const answer = await fetch(url, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), accept: 'text/html', cookie },
      redirect: 'manual',
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(/; */);
      const end = pair.indexOf('=');
      const [name, value] = [pair.slice(0, end), pair.slice(end + 1)];
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
      const expires = attributes.find((each) => /^expires=/i.test(each))?.slice(8);
      if (value === '' || (expires !== undefined && Date.parse(expires) < Date.now()))
        this.#cookies.delete(`${name} ${path}`);
      else this.#cookies.set(`${name} ${path}`, { value, path });
    }
    return answer;
  }
}

/** The page and where it is, as `submit` takes it. */
export async function pageOf(
  answer: Response,
): Promise<{ url: string; html: string; status: number }> {
  return { url: answer.url, html: await answer.text(), status: answer.status };
}

/** Where a redirect leads away to. */
export function awayFrom(answer: Response): URL {
  const location = answer.headers.get('location');
  if (location === null) throw new Error(`no redirect: ${answer.status}`);
  return new URL(location);
}

/** The one link that leads on from a page. */
export function goOnFrom({ html }: { html: string }): URL {
  const [, href] = /<a id="go-on" href="([^"]+)"/.exec(html) ?? [];
  if (href === undefined) throw new Error(`nothing leads on from here: ${html}`);
  return new URL(href.replaceAll('&amp;', '&'));
}

/**
 * A person signs in at an MCP server: our page, the authorisation server as this account, and back.
 * @param address as callers are told it
 */
export async function signInUpstream(
  browser: Browser,
  address: string,
  key: string,
  account: string,
): Promise<{ url: string; html: string; status: number }> {
  const asked = await pageOf(await browser.follow(address));
  const sent = await pageOf(await browser.submit(asked, { do: 'login', key }));
  return pageOf(await browser.follow((await agreeAs(goOnFrom(sent), account)).href));
}

/** Where the authorisation server of `startOauthServer` sends somebody who agrees. */
export async function agreeAs(address: URL, account: string): Promise<URL> {
  const headers = { 'x-account': account };
  return awayFrom(await fetch(address, { redirect: 'manual', headers }));
}
