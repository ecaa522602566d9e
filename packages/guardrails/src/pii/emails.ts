import type { Finder } from './finding.ts';

/** Addresses, from each `@` outwards: a megabyte without one costs nothing. */
export const findEmails: Finder = function* (text) {
  let behind = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    const local = localPart.exec(text.slice(Math.max(behind, at - localMax), at))?.[0] ?? '';
    const domain = domainPart.exec(text.slice(at + 1, at + 1 + domainMax))?.[0] ?? '';
    if (local === '' || domain === '') continue;
    const start = at - local.length;
    const end = at + 1 + domain.length;
    yield { type: 'EMAIL_ADDRESS', start, end, value: text.slice(start, end).toLowerCase() };
    behind = end;
  }
};

const localMax = 64;
const domainMax = 255;
const localPart = /[\p{L}\p{N}!#$%&*+^_~-]+(?:\.[\p{L}\p{N}!#$%&*+^_~-]+)*$/u;
const domainPart =
  /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}(?<=[\p{L}\p{N}]))?\.)+(?:xn--[a-z0-9-]{2,59}|\p{L}{2,63})(?![\p{L}\p{N}])/u;
