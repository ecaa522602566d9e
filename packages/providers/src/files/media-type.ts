import type { ArrivingFile } from '../vendor-files.ts';

/** Of what models are given to read; the rest says what it is by itself. */
const byExtension: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonl: 'text/plain',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** What a file is, for vendors that go by it: clients often say no more than that it is bytes. */
export function mediaTypeOf({
  filename,
  contentType,
}: Pick<ArrivingFile, 'filename' | 'contentType'>) {
  if (contentType !== undefined && !/^application\/octet-stream\b/i.test(contentType))
    return contentType;
  const extension = /\.([a-z0-9]{1,8})$/i.exec(filename)?.[1]?.toLowerCase() ?? '';
  return byExtension[extension] ?? 'application/octet-stream';
}
