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
