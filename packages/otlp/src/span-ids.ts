import { createHash } from 'node:crypto';

/** What is in hex and as long as it has to be is kept; of a UUID the digits are. */
export function traceIdOf(label: string, owner: string): Buffer {
  const digits = label.replaceAll('-', '');
  return /^[0-9a-f]{32}$/i.test(digits) && !/^0+$/.test(digits)
    ? Buffer.from(digits, 'hex')
    : digestOf(`trace:${owner}:${label}`, 16);
}

/**
 * The same for spans. Names that callers chose become ids that are the same
 * wherever they are named: a tree of spans stays one.
 */
export function spanIdOf(label: string, owner: string): Buffer {
  return /^[0-9a-f]{16}$/i.test(label) && !/^0+$/.test(label)
    ? Buffer.from(label, 'hex')
    : digestOf(`span:${owner}:${label}`, 8);
}

function digestOf(text: string, bytes: number): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, bytes);
}
