/** One token that was refused; nothing in it is of use to whoever finds it. */
export interface RefusedToken {
  /** Masked. */
  readonly token: string;
  readonly reason: string;
  readonly status: number;
  /** As the token says; not verified. */
  readonly subject: string;
  readonly method: string;
  readonly path: string;
  readonly requestId: string;
  readonly clientIp: string;
}

/** What came together of one organisation. */
export interface RefusalReport {
  readonly organisationId: string;
  readonly count: number;
  /** The first few of them. */
  readonly samples: readonly RefusedToken[];
}

export interface RefusalLogOptions {
  write: (report: RefusalReport) => Promise<void>;
  onError: (error: unknown) => void;
  /** Between two reports of one organisation. */
  pauseMs?: number;
  samplesMax?: number;
  organisationsMax?: number;
}

interface Gathering {
  count: number;
  samples: RefusedToken[];
  timer: NodeJS.Timeout;
}

/**
 * Gathers refused tokens, so that whoever sends a flood of them fills no
 * database: the first of an organisation is reported at once, what follows
 * within the pause as one report with a count.
 */
export class RefusalLog {
  readonly #options: Required<RefusalLogOptions>;
  readonly #gathering = new Map<string, Gathering>();
  readonly #writing = new Set<Promise<void>>();

  constructor(options: RefusalLogOptions) {
    this.#options = { pauseMs: 10_000, samplesMax: 5, organisationsMax: 1_000, ...options };
  }

  add(organisationId: string, refused: RefusedToken): void {
    const gathering = this.#gathering.get(organisationId);
    if (gathering !== undefined) {
      gathering.count += 1;
      if (gathering.samples.length < this.#options.samplesMax) gathering.samples.push(refused);
      return;
    }
    if (this.#gathering.size >= this.#options.organisationsMax) return;
    this.#open(organisationId);
    this.#write({ organisationId, count: 1, samples: [refused] });
  }

  /** Reports what is still gathered. */
  async stop(): Promise<void> {
    for (const organisationId of [...this.#gathering.keys()]) this.#close(organisationId);
    await Promise.all(this.#writing);
  }

  #open(organisationId: string): void {
    const timer = setTimeout(() => {
      // While there is something to report, the pause begins anew.
      if (this.#close(organisationId)) this.#open(organisationId);
    }, this.#options.pauseMs);
    timer.unref();
    this.#gathering.set(organisationId, { count: 0, samples: [], timer });
  }

  #close(organisationId: string): boolean {
    const gathering = this.#gathering.get(organisationId);
    if (gathering === undefined) return false;
    clearTimeout(gathering.timer);
    this.#gathering.delete(organisationId);
    if (gathering.count === 0) return false;
    this.#write({ organisationId, count: gathering.count, samples: gathering.samples });
    return true;
  }

  #write(report: RefusalReport): void {
    const writing = this.#options
      .write(report)
      .catch(this.#options.onError)
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
  }
}
