import { editedImages, videoSources } from './media-rows.ts';
import { file } from './object-row.ts';
import type { NamedObject } from './operation.ts';
import { completionObjects, messageObjects, responseObjects } from './response-rows.ts';

/** What the body of a request in a batch may name, whatever it asks for: what a vendor takes is his to say. */
const ofBodies: readonly NamedObject[] = [
  ...[responseObjects, completionObjects, messageObjects, editedImages].flatMap(
    ({ names }) => names ?? [],
  ),
  ...videoSources,
  // Mistral's OCR.
  ...file('body.document.file_id'),
];

/** What a row of a file of requests may name; `body` is the row's. */
export const rowNames: readonly NamedObject[] = [
  ...new Map(ofBodies.map((name) => [name.at, name])).values(),
];
