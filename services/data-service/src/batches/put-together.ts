import type { Register } from '../control-plane/register.ts';
import type { Contents, ContentWriter } from '../files/contents.ts';
import type { PartAddress, PartStore } from './part-store.ts';

export interface PutTogetherParts {
  readonly register: Register;
  readonly contents: Contents;
  readonly store: PartStore;
  readonly dataKey: Buffer;
  readonly owner: { readonly organisationId: string; readonly workspaceId: string };
  readonly batchId: string;
  /** How long its files are kept; 0 = as long as any. */
  readonly expiresAfterS: bigint;
}

/** The files that a batch came to; empty = there is none. */
export interface BatchFiles {
  readonly outputFileId: string;
  readonly errorFileId: string;
}

/**
 * The answers of all parts as files: those that are answers in the one, those that are errors in the other.
 * @param notRun  lines of the batch that were never run, as the error file tells them
 */
export async function putTogether(
  addresses: readonly PartAddress[],
  notRun: AsyncIterable<string>,
  parts: PutTogetherParts,
): Promise<BatchFiles> {
  const output = new LateFile(parts, 'output');
  const errors = new LateFile(parts, 'error');
  for (const address of addresses)
    for (const { isError, text } of await parts.store.get(address, parts.dataKey))
      await (isError ? errors : output).write(text);
  for await (const text of notRun) await errors.write(text);
  return { outputFileId: await output.end(), errorFileId: await errors.end() };
}

export type FileParts = Omit<PutTogetherParts, 'store' | 'dataKey'>;

/** A file that is begun with its first line. */
export class LateFile {
  readonly #parts: FileParts;
  readonly #kind: 'output' | 'error';
  #begun: { id: string; writer: ContentWriter } | undefined;
  #lines: string[] = [];
  #length = 0;

  constructor(parts: FileParts, kind: 'output' | 'error') {
    this.#parts = parts;
    this.#kind = kind;
  }

  async write(line: string): Promise<void> {
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#length >= 256 * 1024) await this.#flush();
  }

  async end(): Promise<string> {
    await this.#flush();
    if (this.#begun === undefined) return '';
    const { id, writer } = this.#begun;
    const segments = await writer.end();
    const { register, expiresAfterS } = this.#parts;
    await register.ask(register.files.finishFile, {
      id,
      expiresAfterS,
      purpose: 'batch_output',
      bytes: BigInt(writer.bytes),
      segments,
    });
    return id;
  }

  async #flush(): Promise<void> {
    if (this.#lines.length === 0) return;
    const text = Buffer.from(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
    this.#length = 0;
    const { register, contents, owner, batchId } = this.#parts;
    if (this.#begun === undefined) {
      const { id, dataKey } = await register.ask(register.files.beginFile, {
        owner,
        filename: `batch_${batchId.replaceAll('-', '')}_${this.#kind}.jsonl`,
        batchId,
      });
      this.#begun = { id, writer: contents.writer(id, Buffer.from(dataKey)) };
    }
    await this.#begun.writer.write(text);
  }
}
