import { SeenIds } from '@sluice/contracts';
import { SkimmedJson } from '@sluice/json';
import { jsonIn } from '../through-gateway/answers.ts';
import { tokensIn } from './line-facts.ts';
import { type FileParts, LateFile } from './put-together.ts';

/** What a batch that a provider ran came to, line by line, on its way into files of the service. */
export class ManagedOutput {
  readonly counts = { completed: 0n, failed: 0n };
  readonly #told = new SeenIds();
  readonly #output: LateFile;
  readonly #errors: LateFile;
  #lines = 0;

  constructor(parts: FileParts) {
    this.#output = new LateFile(parts, 'output');
    this.#errors = new LateFile(parts, 'error');
  }

  async keep(line: string) {
    const { custom_id: id, response } = read(Buffer.from(line));
    if (typeof id === 'string') this.#told.add(id, ++this.#lines);
    const isError = !((response?.status_code ?? 500) < 300);
    if (isError) this.counts.failed += 1n;
    else this.counts.completed += 1n;
    await (isError ? this.#errors : this.#output).write(line);
    return { isError, tokens: tokensIn(response?.body) };
  }

  /** Whether the provider told what became of a line. */
  tells(customId: string): boolean {
    return this.#told.has(customId);
  }

  /** A line that was never run. */
  keepNotRun(line: string): Promise<void> {
    return this.#errors.write(line);
  }

  async end(): Promise<{ outputFileId: string; errorFileId: string }> {
    return { outputFileId: await this.#output.end(), errorFileId: await this.#errors.end() };
  }
}

/** Of a line that has more in it than is parsed: what stands beside what is large. */
function read(line: Buffer): OutputLine {
  const parsed = jsonIn(line);
  if (parsed !== undefined) return parsed as OutputLine;
  const skim = new SkimmedJson(2);
  skim.add(line);
  return skim.object() ?? {};
}

interface OutputLine {
  readonly custom_id?: unknown;
  readonly response?: { readonly status_code?: number; readonly body?: unknown } | null;
}
