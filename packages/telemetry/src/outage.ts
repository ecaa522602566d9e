import type { Logger } from './logger.ts';

export interface OutageOptions {
  logger: Pick<Logger, 'info' | 'warn'>;
  /** What is said when it begins: a sentence, and the facts beside it. */
  away: string;
  back: string;
  facts?: object;
  /** Whether a failure is of something that is away; without it every failure is. */
  isOutage?: (error: unknown) => boolean;
  /** Resolves when it answers. While it is away this is tried; without it somebody tells that it is back. */
  probe?: () => Promise<unknown>;
  /** Of something that is there and fails now and then: it is over when nothing failed for so long. */
  quietMs?: number;
}

const probeEveryMs = 1000;
/** What began while it was away may fail so long after its return, as the time it had was spent in waiting. */
const lateFailuresMs = 60_000;

/** One thing that may be away: the log says once that it is and why, and once that it is back and after how long. */
export class Outage {
  readonly #options: OutageOptions;
  #sinceMs: number | undefined;
  #lastMs = 0;
  #endedMs = Number.NEGATIVE_INFINITY;
  #isInDoubt = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** Whether something failed because this is away; it is said if it is news. */
  explains(error: unknown): boolean {
    const cause = outageIn(error, this.#options.isOutage ?? (() => true));
    if (cause === undefined) return false;
    this.begins(reasonOf(cause.error));
    return true;
  }

  begins(reason: string): void {
    this.#lastMs = performance.now();
    if (this.#sinceMs !== undefined || this.#isInDoubt) return;
    const { probe } = this.#options;
    if (probe === undefined || this.#lastMs - this.#endedMs > lateFailuresMs) {
      this.#begin(reason);
      return;
    }
    this.#isInDoubt = true;
    const ended = this.#endedMs;
    probe()
      .catch(() => ended === this.#endedMs && this.#begin(reason))
      .finally(() => {
        this.#isInDoubt = false;
      });
  }

  #begin(reason: string): void {
    if (this.#sinceMs !== undefined) return;
    this.#sinceMs = performance.now();
    const { logger, away, facts } = this.#options;
    logger.warn({ ...facts, reason }, away);
    this.#probeLater();
  }

  ends(): void {
    if (this.#sinceMs === undefined) return;
    const awayMs = Math.round(performance.now() - this.#sinceMs);
    this.stop();
    this.#endedMs = performance.now();
    const { logger, back, facts } = this.#options;
    logger.info({ ...facts, away_ms: awayMs }, back);
  }

  /** Nothing is tried any more. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#sinceMs = undefined;
    this.#endedMs = Number.NEGATIVE_INFINITY;
  }

  #probeLater(): void {
    const { probe, quietMs = 0 } = this.#options;
    if (probe === undefined && quietMs === 0) return;
    this.#timer = setTimeout(() => {
      if (performance.now() - this.#lastMs < quietMs) return this.#probeLater();
      if (probe === undefined) return this.ends();
      const since = this.#sinceMs;
      probe().then(
        () => since === this.#sinceMs && this.ends(),
        () => since !== undefined && since === this.#sinceMs && this.#probeLater(),
      );
    }, probeEveryMs);
    this.#timer.unref();
  }
}

/** Whether something failed because one of these is away; it is said if it is news. */
export function explainedBy(outages: readonly Outage[]): (error: unknown) => boolean {
  return (error) => outages.some((each) => each.explains(error));
}

/** Of an error and what caused it, the first that is one of an outage. */
function outageIn(
  error: unknown,
  isOutage: (error: unknown) => boolean,
): { error: unknown } | undefined {
  for (let each = error, depth = 0; each !== undefined && depth < 4; depth++) {
    if (isOutage(each)) return { error: each };
    each = each instanceof Error ? each.cause : undefined;
  }
  return undefined;
}

/** What an error and its causes say, in one line and without a stack. */
export function reasonOf(error: unknown): string {
  const { message = String(error), code, cause } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  // Of several addresses that were tried the error itself says nothing.
  const said =
    message === '' && error instanceof AggregateError ? reasonOf(error.errors[0]) : message;
  const text =
    said
      .trim()
      .split(/\s*\n\s*/)
      .at(-1) || String(code ?? error);
  return cause instanceof Error ? `${text.replace(/[.:]$/, '')}: ${reasonOf(cause)}` : text;
}

/**
 * The same log without what failed for want of something that is away, which is said once and where it is watched: a warning is none
 * then, and an error, behind which something is lost, has the reason in place of the stack.
 */
export function sparingOutages(logger: Logger, explains: (error: unknown) => boolean): Logger {
  const failed = (fields: unknown): { err: unknown } | undefined =>
    typeof fields === 'object' && fields !== null && 'err' in fields && explains(fields.err)
      ? { ...fields, err: fields.err }
      : undefined;
  const said = (fields: { err: unknown }) => {
    const { err, ...others } = fields;
    return { ...others, reason: reasonOf(err) };
  };
  type Line = [fields: object, text?: string];
  const sparing = Object.create(logger) as Logger;
  sparing.warn = (...[fields, text]: Line) => {
    const outage = failed(fields);
    if (outage === undefined) logger.warn(fields, text);
    else logger.debug(said(outage), text);
  };
  sparing.error = (...[fields, text]: Line) => {
    const outage = failed(fields);
    logger.error(outage === undefined ? fields : said(outage), text);
  };
  return sparing;
}
