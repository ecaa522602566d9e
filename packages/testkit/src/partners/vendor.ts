/** What one of a vendor's servers is asked, as it came. */
export interface VendorRequest {
  readonly method: string;
  /** The host that was meant. */
  readonly host: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  /** The body, when it is JSON or a form. */
  readonly body: unknown;
}

/**
 * A service that checks texts, as far as its documents tell of it: where it
 * stands, whom it answers, what it must be sent, and what it says.
 */
export interface Vendor {
  readonly host: string;
  readonly path: string;
  /** Whether it knows the credentials. */
  readonly knows: (request: VendorRequest) => boolean;
  /** Its answer; undefined when the request is not as it wants it. */
  readonly answer: (request: VendorRequest) => unknown;
}

/** Texts that say this have something wrong with them, for every vendor. */
export const forbidden = 'forbidden';
/** The personal data that all of them know. */
export const address = 'ada@example.com';
/** The key that all of them gave out. */
export const vendorKey = 'partner-key-7f3a9c';

export const isForbidden = (text: string) => text.includes(forbidden);
export const hasAddress = (text: string) => text.includes(address);
export const masked = (text: string, mark: string) => text.replaceAll(address, mark);

/** Whether a header says the key, perhaps after a word. */
export const header =
  (name: string, before = '') =>
  ({ headers }: VendorRequest) =>
    headers[name] === `${before}${vendorKey}`;

/** What stands at a path of a body. */
export function at(body: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null
          ? (value as Record<string, unknown>)[name]
          : undefined,
      body,
    );
}

/** The text there, or undefined where there is none. */
export function textAt(body: unknown, path: string): string | undefined {
  const value = at(body, path);
  return typeof value === 'string' ? value : undefined;
}

/** The texts of a list, each at a path of its item; undefined when one is none. */
export function textsAt(body: unknown, path: string, within = ''): string[] | undefined {
  const list = at(body, path);
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const texts = list.map((item) => (within === '' ? item : at(item, within)));
  return texts.every((text) => typeof text === 'string') ? texts : undefined;
}
