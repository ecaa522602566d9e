import { SeenIds } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { Logger } from '@sluice/telemetry';
import type { Register } from '../control-plane/register.ts';
import type { Contents } from '../files/contents.ts';
import { jsonIn } from '../through-gateway/answers.ts';
import { AnsweredLines, decodeLines } from './answered-lines.ts';
import { Answers } from './answers.ts';
import type { BatchMetrics, BatchType, KeptLine } from './batch-metrics.ts';
import type { LineCaller } from './call-line.ts';
import { checkLines } from './check-lines.ts';
import { linesOf } from './lines.ts';
import { ManagedOutput } from './managed-output.ts';
import { Pace, type PaceRules } from './pace.ts';
import type { PartAddress, PartStore } from './part-store.ts';
import { putTogether } from './put-together.ts';
import { type LineFault, readLine } from './read-line.ts';
import { type RunEnd, runLines } from './run-lines.ts';
import { type ManagedPlan, ManagedRun, type ManagedState, Refused } from './run-managed.ts';

export interface BatchRules {
  readonly linesMax: number;
  readonly lineBytesMax: number;
  readonly atOnce: number;
  readonly retriesMax: number;
  readonly pace: PaceRules;
  /** ms between two looks at a batch that a provider runs. */
  readonly managedIntervalMs: number;
}

export interface BatchParts {
  readonly register: Register;
  readonly contents: Contents;
  readonly store: PartStore;
  readonly caller: LineCaller;
  readonly rules: BatchRules;
  readonly logger: Logger;
  readonly metrics: Pick<BatchMetrics, 'onLines' | 'onBatch'>;
}

/** What a run hears while it runs. */
export interface RunLife {
  /** The batch is somebody else's: nothing of it may be done any more. */
  readonly lost: AbortSignal;
  /** Whoever made it wants no more of it. */
  readonly cancelled: AbortSignal;
  /** This process ends: no more lines are begun, those under way may end. */
  readonly leave: AbortSignal;
  /** It ends now. */
  readonly cut: AbortSignal;
  readonly token: () => string;
  readonly mayBegin: () => boolean;
  readonly lose: () => void;
  readonly cancel: () => void;
}

/** What the batch came to with this run; `left` = it goes on elsewhere. */
export type BatchEnd = 'completed' | 'failed' | 'expired' | 'cancelled' | 'left';

/** One run of a batch, from wherever the one before it came to. @throws when something that it needs is away */
export async function runBatch(
  claim: jobs.Claim,
  parts: BatchParts,
  life: RunLife,
): Promise<BatchEnd> {
  return new BatchRun(claim, parts, life).run();
}

/** Beside the headers of lines: that a provider runs them, and how it is asked. No header has such a name. */
const managedName = ':managed';
/** The error file of the batch whose failed lines it tries again. */
const retryName = ':retry';
/** Seconds after which the files that it comes to go. */
const outputExpiresName = ':output-expires';
/** Why lines were not run, by how their batch ended. */
const notRunFaults: Readonly<Record<string, { code: string; message: string } | undefined>> = {
  expired: { code: 'batch_expired', message: 'The batch expired before the line was run.' },
  cancelled: {
    code: 'batch_cancelled',
    message: 'The batch was cancelled before the line was run.',
  },
  failed: { code: 'key_ended', message: 'The key of the batch ended before the line was run.' },
};

class BatchRun {
  readonly #batch: jobs.Batch;
  readonly #claim: jobs.Claim;
  readonly #parts: BatchParts;
  readonly #life: RunLife;
  readonly #dataKey: Buffer;
  readonly #addresses: PartAddress[] = [];
  readonly #answered = new AnsweredLines();
  /** Who answered lines of this run. */
  readonly #providers = new Set<string>();

  constructor(claim: jobs.Claim, parts: BatchParts, life: RunLife) {
    if (claim.batch === undefined) throw new Error('a claim has no batch');
    this.#batch = claim.batch;
    this.#claim = claim;
    this.#parts = parts;
    this.#life = life;
    this.#dataKey = Buffer.from(claim.dataKey);
  }

  async run(): Promise<BatchEnd> {
    try {
      return await this.#run();
    } catch (error) {
      // Somebody deleted it meanwhile, or it expired: what was answered is kept.
      if (!(error instanceof GoneFile)) throw error;
      return this.#end('failed', 0, [error.fault]);
    }
  }

  async #run(): Promise<BatchEnd> {
    const { status } = this.#batch;
    let total = Number(this.#batch.total);
    const { [retryName]: retried } = this.#headers();
    if (retried !== undefined && status !== 'cancelling') await this.#passOver(retried);
    const passedOver = this.#answered.count;
    if (!this.#claim.isChecked && status !== 'cancelling') {
      const checked = await this.#check();
      if (typeof checked === 'string') return checked;
      total = checked;
    }
    total += passedOver;
    await this.#readParts();
    // A provider that runs it hears of it.
    if (this.#managed() !== undefined && status === 'cancelling') this.#life.cancel();
    else if (status === 'cancelling' || this.#life.cancelled.aborted)
      return this.#end('cancelled', total);
    const managed = this.#managed();
    if (managed !== undefined) return this.#runManaged(managed, total);
    const end = await this.#runLines(total);
    if (this.#life.lost.aborted) return 'left';
    if (this.#life.cancelled.aborted) return this.#end('cancelled', total);
    if (end === 'left') return 'left';
    if (end === 'done') return this.#end('completed', total);
    if (end === 'expired') return this.#end('expired', total);
    const fault = {
      code: 'key_ended',
      message: `The key of the batch does not let its lines in any more: ${end.keyEnded}`,
    };
    return this.#end('failed', total, [{ ...fault, param: null, line: null }]);
  }

  /** The number of its lines, where all of them can be run. */
  async #check(): Promise<number | BatchEnd> {
    const { register, rules } = this.#parts;
    const { endpoint, id } = this.#batch;
    const { run } = this.#claim;
    const managed = this.#managed();
    const models = managed && modelsOf(managed);
    const result = await checkLines(this.#input(), {
      ...rules,
      endpoint,
      ...(models && { models }),
    });
    if (result.faults.length > 0) return this.#end('failed', 0, result.faults);
    const total = result.total - this.#answered.count;
    const { isHeld } = await register.ask(register.jobs.noteChecked, {
      id,
      run,
      total: BigInt(total),
    });
    if (!isHeld) this.#life.lose();
    return isHeld ? total : 'left';
  }

  /** Of a batch that tries again what failed: all lines that did not are as good as answered. */
  async #passOver(errorFileId: string): Promise<void> {
    const { rules } = this.#parts;
    const failed = new SeenIds();
    for await (const { number, bytes } of linesOf(
      this.#content(errorFileId, 'error_file_gone'),
      2 * rules.lineBytesMax,
    )) {
      const { custom_id: id } = ((bytes && jsonIn(bytes)) ?? {}) as { custom_id?: unknown };
      if (typeof id === 'string') failed.add(id, number);
    }
    for await (const line of linesOf(this.#input(), rules.lineBytesMax)) {
      const read = readLine(line, this.#batch.endpoint);
      if (!('code' in read) && !failed.has(read.customId)) this.#answered.add(line.number);
    }
  }

  #input(): AsyncGenerator<Buffer, void> {
    return this.#content(this.#batch.inputFileId, 'input_file_gone');
  }

  /** @throws GoneFile */
  async *#content(id: string, code: string): AsyncGenerator<Buffer, void> {
    const { register, contents } = this.#parts;
    const { workspaceId } = this.#batch;
    try {
      const { file, dataKey } = await register.ask(register.files.openFile, { workspaceId, id });
      if (file === undefined) throw new GatewayError('file.not_found');
      yield* contents.read({ id, dataKey: Buffer.from(dataKey), segments: file.segments });
    } catch (error) {
      throw isGone(error) ? new GoneFile(code) : error;
    }
  }

  #headers(): Record<string, string> {
    return JSON.parse(this.#claim.headersJson) as Record<string, string>;
  }

  #expiresAfterS(): bigint {
    return BigInt(this.#headers()[outputExpiresName] ?? 0);
  }

  /** What was answered before, by whichever run. */
  async #readParts(): Promise<void> {
    const { id } = this.#batch;
    for (const { run, number, lines } of await this.#parts.register.listParts(id)) {
      this.#addresses.push({ batchId: id, run, number });
      for (const line of decodeLines(lines)) this.#answered.add(line);
    }
  }

  async #runLines(total: number): Promise<RunEnd> {
    const { register, store, caller, rules, logger } = this.#parts;
    const { id, endpoint, completionWindow, expiresAtMs } = this.#batch;
    const { run } = this.#claim;
    const life = this.#life;
    if (this.#answered.count >= total) return 'done';
    const endsAtMs = Number(expiresAtMs);
    const cut = AbortSignal.any([life.lost, life.cut]);
    const answers = new Answers({
      write: async ({ number, lines, answers: written }) => {
        const address = { batchId: id, run, number };
        const failed = written.filter(({ isError }) => isError).length;
        await store.put(address, this.#dataKey, written);
        const completed = BigInt(written.length - failed);
        const note = { id, run, number, lines, completed, failed: BigInt(failed) };
        const { isHeld, status } = await register.ask(register.jobs.notePart, note);
        if (!isHeld) return false;
        this.#addresses.push(address);
        this.#count(written);
        if (status === 'cancelling') life.cancel();
        return true;
      },
      onLost: life.lose,
      enough: Math.ceil(rules.atOnce / 2),
      signal: cut,
      logger,
    });
    return runLines(
      this.#input(),
      {
        batchId: id,
        endpoint,
        headers: withoutOwn(this.#headers()),
        endsAtMs,
        ...rules,
      },
      {
        caller,
        answers,
        answered: this.#answered,
        total,
        pace: completionWindow === 'immediate' ? undefined : new Pace(rules.pace, endsAtMs),
        token: life.token,
        mayBegin: life.mayBegin,
        signals: { cut, leave: AbortSignal.any([life.leave, life.cancelled]) },
      },
    );
  }

  /** Undefined = gateways run its lines. */
  #managed(): ManagedPlan | undefined {
    const { [managedName]: plan } = this.#headers();
    return plan === undefined ? undefined : (JSON.parse(plan) as ManagedPlan);
  }

  #count(lines: readonly KeptLine[]): void {
    for (const { facts } of lines)
      if (facts?.provider !== undefined) this.#providers.add(facts.provider);
    this.#parts.metrics.onLines(this.#type(), lines);
  }

  #countEnd(): void {
    const tookMs = Date.now() - Number(this.#batch.createdAtMs);
    this.#parts.metrics.onBatch(this.#type(), this.#providers, tookMs);
  }

  #type(): BatchType {
    return this.#managed() === undefined ? 'custom' : 'provider';
  }

  /** By its provider: what it came to so far stands where answers of lines stand. */
  async #runManaged(plan: ManagedPlan, total: number): Promise<BatchEnd> {
    const { register, contents, store, caller, rules } = this.#parts;
    const { id, endpoint, inputFileId, completionWindow, expiresAtMs } = this.#batch;
    const { organisationId, workspaceId } = this.#batch;
    const life = this.#life;
    let state: ManagedState = {};
    for (const address of this.#addresses)
      for (const { text } of await store.get(address, this.#dataKey))
        state = { ...state, ...(JSON.parse(text) as ManagedState) };
    let number = 0;
    const note = async (now: ManagedState, counts = { completed: 0n, failed: 0n }) => {
      const address = { batchId: id, run: this.#claim.run, number: number++ };
      await store.put(address, this.#dataKey, [{ isError: false, text: JSON.stringify(now) }]);
      const lines = new Uint8Array();
      const { isHeld, status } = await register.ask(register.jobs.notePart, {
        id,
        run: address.run,
        number: address.number,
        lines,
        ...counts,
      });
      if (!isHeld) life.lose();
      if (status === 'cancelling') life.cancel();
    };
    const headers = withoutOwn(this.#headers());
    const managed = new ManagedRun({
      batchId: id,
      inputFileId,
      endpoint,
      window: completionWindow,
      plan,
      headers,
      state,
      token: life.token,
      pool: caller.pool,
      timeoutMs: caller.timeoutMs,
      intervalMs: rules.managedIntervalMs,
      endsAtMs: Number(expiresAtMs),
      lineBytesMax: rules.lineBytesMax,
      input: () => this.#input(),
      note,
      signals: {
        cut: AbortSignal.any([life.lost, life.cut]),
        leave: life.leave,
        cancelled: life.cancelled,
      },
    });
    let end = await managed.run();
    if (end === 'left' || life.lost.aborted) return 'left';
    const owner = { organisationId, workspaceId };
    const output = new ManagedOutput({
      register,
      contents,
      owner,
      batchId: id,
      expiresAfterS: this.#expiresAfterS(),
    });
    try {
      if (end.message === undefined || end.status !== 'failed')
        for await (const line of managed.output()) {
          const { isError, tokens } = await output.keep(line);
          const facts = { provider: managed.provider, ...tokens };
          if (!managed.isCounted) this.#count([{ isError, facts }]);
        }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      end = { status: 'failed', message: error.message };
    }
    if (!managed.isCounted) await note({ isCounted: true }, output.counts);
    await register.ask(register.jobs.noteFinalizing, { id, run: this.#claim.run });
    let notRun = 0n;
    const left = end.status === 'failed' || total === 0 ? undefined : notRunFaults[end.status];
    const isTold = (customId: string) => output.tells(customId);
    if (left !== undefined)
      for await (const line of this.#notRun(left, false, isTold)) {
        notRun += 1n;
        await output.keepNotRun(line);
      }
    const fault = { code: 'provider_failed', message: end.message ?? '', param: null, line: null };
    const ended = await register.ask(register.jobs.endBatch, {
      id,
      run: this.#claim.run,
      status: end.status,
      ...(await output.end()),
      errorsJson: JSON.stringify(end.message === undefined ? [] : [fault]),
      notRun,
    });
    if (!ended.isHeld) return 'left';
    this.#countEnd();
    return end.status;
  }

  /** Puts together what there is, and says that it is over. */
  async #end(
    status: Exclude<BatchEnd, 'left'>,
    total: number,
    faults: readonly LineFault[] = [],
  ): Promise<BatchEnd> {
    const { register, contents, store } = this.#parts;
    const { id, organisationId, workspaceId } = this.#batch;
    const { run } = this.#claim;
    const { isHeld } = await register.ask(register.jobs.noteFinalizing, { id, run });
    if (!isHeld) return 'left';
    // Before its lines were looked at nobody knows which there are.
    const fault =
      total > 0 && (status !== 'failed' || hasEndedKey(faults)) ? notRunFaults[status] : undefined;
    let notRun = 0n;
    const lines = async function* (told: AsyncGenerator<string, void>) {
      for await (const line of told) {
        notRun += 1n;
        yield line;
      }
    };
    const files = await putTogether(
      // Of a batch that a provider runs they say how far it has come.
      this.#managed() === undefined ? this.#addresses : [],
      fault === undefined ? none() : lines(this.#notRun(fault, status === 'expired')),
      {
        register,
        contents,
        store,
        dataKey: this.#dataKey,
        owner: { organisationId, workspaceId },
        batchId: id,
        expiresAfterS: this.#expiresAfterS(),
      },
    );
    const ended = await register.ask(register.jobs.endBatch, {
      id,
      run,
      status,
      ...files,
      errorsJson: JSON.stringify(faults),
      notRun,
    });
    if (!ended.isHeld) return 'left';
    this.#countEnd();
    return status;
  }

  /** @throws GoneFile where it is needed */
  async *#notRun(
    fault: object,
    isNeeded: boolean,
    isTold: (customId: string) => boolean = () => false,
  ): AsyncGenerator<string, void> {
    try {
      yield* this.#notRunLines(fault, isTold);
    } catch (error) {
      // It ends as it was to end: there is nothing that could be tried again.
      if (isNeeded || !(error instanceof GoneFile)) throw error;
    }
  }

  async *#notRunLines(
    error: object,
    isTold: (customId: string) => boolean,
  ): AsyncGenerator<string, void> {
    const { endpoint, id, status } = this.#batch;
    const { [retryName]: retried } = this.#headers();
    if (retried !== undefined && status === 'cancelling') await this.#passOver(retried);
    for await (const line of linesOf(this.#input(), this.#parts.rules.lineBytesMax)) {
      const read = this.#answered.has(line.number) ? undefined : readLine(line, endpoint);
      if (read === undefined || 'code' in read || isTold(read.customId)) continue;
      yield JSON.stringify({
        id: `batch_req_${id.replaceAll('-', '')}_${line.number}`,
        custom_id: read.customId,
        response: null,
        error,
      });
    }
  }
}

/** Jobs of vendors that are neither OpenAI's nor made of lines have a model themselves. */
function modelsOf({ isOpenAi, takesLines }: ManagedPlan): 'of one provider' | 'one' {
  return isOpenAi || takesLines ? 'of one provider' : 'one';
}

/** The headers that lines are sent with. */
function withoutOwn(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
}

/** A file that the batch needs is not there any more, or not what was kept: that does not change. */
class GoneFile extends Error {
  readonly fault: LineFault;

  constructor(code: string) {
    super(code);
    const which = code === 'input_file_gone' ? 'input file' : 'error file of the batch before';
    const message = `The ${which} is not there any more, or not what was kept.`;
    this.fault = { code, message, param: null, line: null };
  }
}

function hasEndedKey(faults: readonly LineFault[]): boolean {
  return faults.some(({ code }) => code === 'key_ended');
}

async function* none(): AsyncGenerator<string, void> {}

function isGone(error: unknown): boolean {
  return (
    error instanceof GatewayError &&
    (error.code === 'file.not_found' || error.code === 'file.damaged')
  );
}
