import type { ObjectPage } from './object-store.ts';

/**
 * The three documents of S3 that are met here. Keys are asked for in URL
 * encoding, so that they hold nothing that XML would write otherwise.
 */
export function readListing(xml: string): ObjectPage {
  const keys = [...xml.matchAll(/<Contents>.*?<Key>([^<]*)<\/Key>/gs)].map((match) =>
    decodeURIComponent((match[1] ?? '').replaceAll('+', '%20')),
  );
  return { keys, hasMore: /<IsTruncated>\s*true\s*<\/IsTruncated>/.test(xml) };
}

/** Whether it is all of a document with this root: half of one says too little, and a page nothing. */
export function isWhole(xml: string, root: 'ListBucketResult' | 'DeleteResult'): boolean {
  const text = xml.trimEnd();
  if (!text.includes(`<${root}`)) return false;
  return text.endsWith(`</${root}>`) || new RegExp(`<${root}[^<>]*/>$`).test(text);
}

export function deletionBody(keys: readonly string[]): string {
  const objects = keys.map((key) => `<Object><Key>${escaped(key)}</Key></Object>`).join('');
  return `<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>${objects}</Delete>`;
}

/** Why one could not be deleted; undefined = all are gone. */
export function readDeletion(xml: string): string | undefined {
  return /<Error>.*?<Code>(\w{1,64})<\/Code>/s.exec(xml)?.[1];
}

function escaped(text: string): string {
  return text.replace(/[<>&"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
