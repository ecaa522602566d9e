import type { Request, Response } from 'express';
import type { Page } from './pages.ts';

export function sendPage(res: Response, { html, headers }: Page, status = 200): void {
  res.writeHead(status, { ...headers }).end(html);
}

/** Browsers say where a form comes from; who says nothing is no browser, and has the proof. */
export function isOwnForm(req: Request, base: string): boolean {
  const { origin } = req.headers;
  if (origin !== undefined && origin !== 'null' && origin !== new URL(base).origin) return false;
  const site = req.headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}
