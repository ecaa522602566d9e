import { lookPathOf, type MadeObject, type ObjectKind } from '@sluice/contracts';
import { RecentMap } from '../chain/recent-map.ts';

/** Work that a provider goes on with after its answer, as the control plane is told of it. */
export interface NotedWork {
  readonly kind: ObjectKind;
  readonly objectId: string;
  readonly owner: { organisationId: string; workspaceId: string; apiKeyId: string };
  /** `@slug` of the saved provider that has it. */
  readonly provider: string;
  /** By which it is looked at. */
  readonly path: string;
  readonly traceId: string;
  readonly madeAtMs: number;
}

export interface WorkNotesOptions {
  /** Tells of some at once; how many of them are not followed, because their workspace has too many. */
  readonly tell: (works: readonly NotedWork[]) => Promise<number>;
  readonly onOutcome: (outcome: WorkNoteOutcome, count: number) => void;
  /** Says once that it does not get through, and once that it does. */
  readonly onAway: (error: unknown) => void;
  readonly onBack: () => void;
  readonly lingerMs?: number;
  readonly pauseMsMax?: number;
  /** ms for which one is tried. */
  readonly triedMs?: number;
  readonly waitingMax?: number;
}

export const workNoteOutcomes = ['noted', 'refused', 'lost'] as const;
export type WorkNoteOutcome = (typeof workNoteOutcomes)[number];

const toldAtOnce = 100;
/** A stream tells of one piece of work with many events. */
const recentMax = 1_000;

/**
 * Tells the control plane of work that goes on at providers, so that somebody looks at it until it has ended. Nobody waits for it;
 * while the control plane is away it is tried again, for a time and up to a number.
 */
export class WorkNotes {
  readonly #options: WorkNotesOptions;
  readonly #waiting: NotedWork[] = [];
  readonly #recent = new RecentMap<true>(recentMax);
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;
  #failures = 0;
  #isStopped = false;

  constructor(options: WorkNotesOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Notes what a document tells of as made, where it goes on. */
  note(
    made: Pick<MadeObject, 'kind' | 'id' | 'follow'>,
    document: Readonly<Record<string, unknown>>,
    who: Omit<NotedWork, 'kind' | 'objectId' | 'path'>,
  ): void {
    const path = lookPathOf(made, document);
    if (path === undefined) return;
    const key = `${who.owner.workspaceId} ${who.provider} ${path}`;
    if (this.#recent.use(key) === true) return;
    this.#recent.set(key, true);
    const { waitingMax = 10_000, onOutcome } = this.#options;
    if (this.#waiting.length >= waitingMax) {
      onOutcome('lost', 1);
      return;
    }
    this.#waiting.push({ kind: made.kind, objectId: String(document[made.id]), path, ...who });
    this.#wake(this.#options.lingerMs ?? 50);
  }

  /** Tells of what waits, once more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#telling;
    if (this.#waiting.length > 0) await this.#tell();
    if (this.#waiting.length > 0) this.#options.onOutcome('lost', this.#waiting.length);
  }

  #wake(afterMs: number): void {
    if (this.#isStopped || this.#timer !== undefined || this.#telling !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#telling = this.#tell().finally(() => {
        this.#telling = undefined;
        const { pauseMsMax = 30_000 } = this.#options;
        if (this.#waiting.length > 0)
          this.#wake(this.#failures === 0 ? 0 : Math.min(pauseMsMax, 500 * 2 ** this.#failures));
      });
    }, afterMs);
  }

  /** Never rejects. */
  async #tell(): Promise<void> {
    const { tell, onOutcome, onAway, onBack, triedMs = 3_600_000 } = this.#options;
    const works = this.#waiting.slice(0, toldAtOnce);
    try {
      const refused = await tell(works);
      this.#waiting.splice(0, works.length);
      onOutcome('noted', works.length - refused);
      onOutcome('refused', refused);
      if (this.#failures > 0) onBack();
      this.#failures = 0;
    } catch (error) {
      if (this.#failures === 0) onAway(error);
      this.#failures += 1;
      const before = this.#waiting.length;
      const sinceMs = Date.now() - triedMs;
      while ((this.#waiting[0]?.madeAtMs ?? Number.POSITIVE_INFINITY) < sinceMs)
        this.#waiting.shift();
      onOutcome('lost', before - this.#waiting.length);
    }
  }
}
