import { SkimmedJson } from '@sluice/json';
import { rowLines } from '../http/row-lines.ts';
import { documentOf } from '../owners/ids-in-reply.ts';
import { rowBytesMax } from './row-bytes-max.ts';

/** `body` and what is in it. */
const levels = 2;

/**
 * The model that the first line of a batch asks for, in OpenAI's form; '' = it names none. Lines of one batch ask for one model
 * at OpenAI (https://platform.openai.com/docs/guides/batch). No more than that line is read.
 */
export async function modelOfFirstLine(input: AsyncIterable<Buffer>): Promise<string> {
  for await (const line of rowLines(input, rowBytesMax, () => new SkimmedJson(levels))) {
    const row = Buffer.isBuffer(line) ? documentOf(line) : line.object();
    const { model } = (row?.body ?? {}) as { model?: unknown };
    return typeof model === 'string' ? model : '';
  }
  return '';
}

/**
 * The model that a row counts for, as a live call does: the one that was asked, where the one that answered is a version of it
 * (`gpt-4o` and `gpt-4o-2024-08-06`). '' = neither is known.
 */
export function askedModel(asked: string, answered: string): string {
  if (answered === '' || asked === '') return answered || asked;
  return answered.startsWith(asked) && version.test(answered.slice(asked.length))
    ? asked
    : answered;
}

/** As OpenAI, Vertex AI and Mistral date their models. */
const version = /^[@-](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4})$/;
