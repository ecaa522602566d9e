import type { Request, Response } from 'express';

const cookie = 'sluice_upstream';
const cookieSeconds = 30 * 60;
const browserPattern = /^[\w-]{32}$/;

/** Of a base with a path, that path. */
export function prefixOf(base: string): string {
  return new URL(base).pathname.replace(/\/$/, '');
}

/** What stands for the browser of somebody who signs in elsewhere. */
export function browserOf(req: Request): string | undefined {
  for (const pair of (req.headers.cookie ?? '').split(/; */)) {
    const end = pair.indexOf('=');
    const value = pair.slice(end + 1);
    if (pair.slice(0, end) === cookie && browserPattern.test(value)) return value;
  }
  return undefined;
}

/** Sent along when an authorisation server leads the person back (Lax), and with no form of another site. */
export function setBrowser(res: Response, base: string, browser: string): void {
  res.append(
    'set-cookie',
    `${cookie}=${browser}; Path=${prefixOf(base)}/oauth; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${base.startsWith('https://') ? '; Secure' : ''}`,
  );
}
