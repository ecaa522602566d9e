/**
 * Answers of model providers, kept for requests that are the same. Start here;
 * `key.ts` says what "the same" means, `forms.ts` how one answer serves as JSON
 * and as a stream, `flights.ts` who asks when nothing is stored, `fill.ts` how
 * an answer gets into the store, `semantic/` when another question is the same
 * in other words.
 */

import type { CacheRule } from '@sluice/engine';
import { abortReason } from '../http/caller-gone.ts';
import { Fill, type FillDeps, type Subject } from './fill.ts';
import { type Flight, Flights, type Lead } from './flights.ts';
import { deliver, isEligible, replyOf, wantedForm } from './forms.ts';
import { cacheKey, partitionKey, type ShownKey, showKey } from './key.ts';
import type { CacheLookup, CacheRequest, Delivery, SemanticAsk } from './request.ts';
import { type NoQuestion, readQuestion } from './semantic/question.ts';
import type { Partition, VectorIndex } from './semantic/vector-index.ts';
import type { CachedReply, CacheStore } from './store.ts';

export type { CacheFill, CacheLookup, CacheRequest, Delivery, SemanticAsk } from './request.ts';

export interface ReplyCacheOptions {
  store: CacheStore;
  /** Of the questions whose answers the store has. */
  vectors: VectorIndex;
  /** Larger answers are not stored. */
  objectBytesMax: number;
  /** How long a request waits for another one's answer before it asks for itself. */
  flightWaitMs: number;
  /** Unix ms. */
  now?: () => number;
}

/** Of rules that do not say: a week. */
const maxAgeSDefault = 604_800;
/** Above any number of requests one gateway serves at a time. */
const flightsMax = 10_000;
/** Streams of the largest size that are copied at the same time. */
const copiesMax = 64;

/** A refresh replaces the answers of so many questions that are near. */
const refreshedMax = 100;

/** What was looked up, with what takes an answer. */
type Looking = CacheLookup & { fill?: Fill };

/** For those who only want to know. */
export interface JudgedLookup {
  /** Of the very words. */
  readonly status: 'HIT' | 'MISS' | 'REFRESH';
  readonly maxAgeS: number;
  readonly ageS: number | undefined;
  readonly key: ShownKey;
  /** Whether other words would be compared, or why not; undefined = the cache is no semantic one. */
  readonly question: 'asked' | NoQuestion | undefined;
}

/** The same question in other words, and where it is looked for. */
interface Similar {
  readonly ask: SemanticAsk;
  readonly text: string;
  readonly partition: Partition;
  /** Of the request's very words. */
  readonly id: string;
}

const disabled: CacheLookup = Object.freeze({ status: 'DISABLED' });

export class ReplyCache {
  readonly #store: CacheStore;
  readonly #vectors: VectorIndex;
  readonly #deps: FillDeps;
  readonly #flights: Flights;
  readonly #now: () => number;

  constructor(options: ReplyCacheOptions) {
    this.#store = options.store;
    this.#vectors = options.vectors;
    this.#now = options.now ?? Date.now;
    this.#flights = new Flights({ waitMs: options.flightWaitMs, flightsMax });
    this.#deps = {
      store: options.store,
      objectBytesMax: options.objectBytesMax,
      copies: { bytes: 0, bytesMax: copiesMax * options.objectBytesMax },
      now: this.#now,
    };
  }

  /** Answers that are being asked for at the moment. */
  get flightCount(): number {
    return this.#flights.size;
  }

  /**
   * Answers at once where nothing is to be waited for.
   * @throws GatewayError `request.aborted` when the caller leaves
   */
  lookUp(request: CacheRequest): CacheLookup | Promise<CacheLookup> {
    const { rule, signal } = request;
    if (rule === undefined || !isEligible(request)) return disabled;
    if (signal.aborted) throw abortReason(signal);
    const form = wantedForm(request);
    const maxAgeMs = maxAgeMsOf(rule, request.maxAgeCapS);
    const { organisationId, endpoint } = request;
    const similar = request.semantic && similarTo(request, request.semantic);
    const key = similar === undefined ? cacheKey(request) : keyIn(similar.partition, similar.id);
    const subject: Subject = { organisationId, key, endpoint, form, maxAgeMs, signal };
    // What is young enough for one rule may be too old for another, and what is near enough too far.
    const flightKey = `${key}/${form}/${maxAgeMs}${similar === undefined ? '' : nearness(similar)}`;
    const looking = request.forceRefresh
      ? { status: 'REFRESH' as const, fill: this.#refresh(subject, flightKey) }
      : this.#find(subject, flightKey);
    return similar === undefined ? looking : this.#findSimilar(looking, subject, similar);
  }

  /** What looking up would come to, without asking anybody for a vector; undefined = nothing would be looked up. */
  async judge(request: CacheRequest): Promise<JudgedLookup | undefined> {
    const { rule, organisationId, semantic, forceRefresh } = request;
    if (rule === undefined || !isEligible(request)) return undefined;
    const question = semantic && readQuestion(request);
    const similar = semantic && similarTo(request, semantic);
    const key = similar === undefined ? cacheKey(request) : keyIn(similar.partition, similar.id);
    const found = await this.#store.peek(organisationId, key);
    const ageMs = found === undefined ? 0 : this.#now() - found.storedAtMs;
    const isHit =
      found !== undefined &&
      ageMs < maxAgeMsOf(rule, request.maxAgeCapS) &&
      deliver(request.endpoint, found, wantedForm(request)) !== undefined;
    return {
      status: forceRefresh ? 'REFRESH' : isHit ? 'HIT' : 'MISS',
      maxAgeS: maxAgeMsOf(rule, request.maxAgeCapS) / 1000,
      ageS: isHit ? Math.round(ageMs / 1000) : undefined,
      key: showKey(request),
      question: typeof question === 'object' ? 'asked' : question,
    };
  }

  /** The very words first: they cost nobody a call. */
  async #findSimilar(
    exact: Looking | Promise<Looking>,
    subject: Subject,
    similar: Similar,
  ): Promise<CacheLookup> {
    const { status, fill, ...looked } = await exact;
    if (fill === undefined) return { status, ...looked };
    try {
      const found = await this.#askIndex(status === 'REFRESH', fill, subject, similar);
      if (found === undefined || similar.ask.isShadow)
        return {
          status: status === 'REFRESH' ? status : 'SEMANTIC MISS',
          fill,
          ...(found?.similarity === undefined ? {} : { similarity: found.similarity }),
        };
      fill.serve(found);
      return hit(found);
    } catch (error) {
      fill.release();
      throw error;
    }
  }

  /** The answer to the nearest question; without one, what comes is kept as an answer to this one. */
  async #askIndex(
    isRefresh: boolean,
    fill: Fill,
    subject: Subject,
    { ask, text, partition, id }: Similar,
  ): Promise<Delivery | undefined> {
    const vector = await ask.embed(text);
    if (subject.signal.aborted) throw abortReason(subject.signal);
    if (vector === undefined) return undefined;
    const wanted = { atLeast: ask.threshold, countMax: isRefresh ? refreshedMax : 1 };
    const neighbours = await this.#vectors.near(partition, vector, wanted);
    fill.onKept = () => {
      if (isRefresh) for (const old of neighbours) this.#forget(partition, old.id, id);
      this.#vectors.add(partition, id, vector, subject.maxAgeMs);
    };
    const [nearest] = neighbours;
    if (nearest === undefined || isRefresh) return undefined;
    const key = keyIn(partition, nearest.id);
    const found = await this.#store.get(subject.organisationId, key);
    // Its answer had to make room, or is none.
    if (found === undefined) this.#vectors.forget(partition, nearest.id);
    const delivery = this.#deliver(found, subject);
    return delivery && { ...delivery, similarity: nearest.similarity };
  }

  /** Unless it is the one that has been kept anew. */
  #forget(partition: Partition, old: string, id: string): void {
    if (old === id) return;
    this.#vectors.forget(partition, old);
    this.#store.forget(partition.organisationId, keyIn(partition, old));
  }

  #find(subject: Subject, flightKey: string): Looking | Promise<Looking> {
    const flight = this.#flights.at(flightKey);
    // Whoever leads has looked already, or is looking: a question saved.
    if (flight !== undefined && !flight.isRefresh && !this.#store.isLocal)
      return this.#follow(flight, subject);
    const found = this.#store.get(subject.organisationId, subject.key);
    if (!(found instanceof Promise)) {
      const delivery = this.#deliver(found, subject);
      return delivery === undefined ? this.#ask(subject, flightKey, flight) : hit(delivery);
    }
    if (flight !== undefined) return this.#findBeside(flight, found, subject, flightKey);
    return this.#findLeading(found, subject, this.#begin(flightKey, subject, false));
  }

  /** The look-up itself is shared: those who come meanwhile wait for it. */
  async #findLeading(
    found: Promise<CachedReply | undefined>,
    subject: Subject,
    lead: Lead | undefined,
  ): Promise<Looking> {
    const delivery = this.#deliver(await found, subject);
    if (delivery === undefined) return { status: 'MISS', fill: this.#fill(subject, lead) };
    lead?.land(delivery);
    return hit(delivery);
  }

  /** While a refresh is under way, what is stored still serves. */
  async #findBeside(
    refresh: Flight,
    found: Promise<CachedReply | undefined>,
    subject: Subject,
    flightKey: string,
  ): Promise<Looking> {
    const delivery = this.#deliver(await found, subject);
    return delivery === undefined ? this.#ask(subject, flightKey, refresh) : hit(delivery);
  }

  /** Nothing is stored. `seen` is the flight that was under way when that was looked up. */
  #ask(subject: Subject, flightKey: string, seen: Flight | undefined): Looking | Promise<Looking> {
    if (seen?.delivery !== undefined) return hit(seen.delivery);
    const flight = this.#flights.at(flightKey);
    if (flight !== undefined) return this.#follow(flight, subject);
    return {
      status: 'MISS',
      fill: this.#fill(subject, this.#begin(flightKey, subject, false)),
    };
  }

  async #follow(flight: Flight, subject: Subject): Promise<Looking> {
    const landing = await flight.wait(subject.signal);
    if (landing.kind === 'landed') return hit(landing.delivery);
    const lead = landing.kind === 'lead' ? landing.lead : undefined;
    return { status: 'MISS', fill: this.#fill(subject, lead) };
  }

  #begin(flightKey: string, subject: Subject, isRefresh: boolean): Lead | undefined {
    return this.#flights.begin(flightKey, subject.signal, isRefresh);
  }

  #refresh(subject: Subject, flightKey: string): Fill {
    return this.#fill(subject, this.#begin(flightKey, subject, true));
  }

  #fill(subject: Subject, lead: Lead | undefined): Fill {
    return new Fill(this.#deps, subject, lead);
  }

  #deliver(found: CachedReply | undefined, subject: Subject): Delivery | undefined {
    if (found === undefined || this.#now() - found.storedAtMs >= subject.maxAgeMs) return undefined;
    return deliver(subject.endpoint, found, subject.form);
  }
}

function maxAgeMsOf({ maxAgeS }: CacheRule, capS: number): number {
  const wantedS = maxAgeS ?? (capS === 0 ? maxAgeSDefault : capS);
  return (capS === 0 ? wantedS : Math.min(wantedS, capS)) * 1000;
}

function hit(delivery: Delivery): CacheLookup & { fill?: undefined } {
  const { similarity } = delivery;
  const found = { reply: replyOf(delivery), kept: delivery };
  return similarity === undefined
    ? { status: 'HIT', ...found }
    : { status: 'SEMANTIC HIT', similarity, ...found };
}

/** Undefined where only its very words have the same answer. */
function similarTo(request: CacheRequest, ask: SemanticAsk): Similar | undefined {
  const question = readQuestion(request);
  if (typeof question === 'string') return undefined;
  const { organisationId } = request;
  const partition = { organisationId, key: partitionKey(request, question, ask.embedder) };
  return { ask, text: question.text, partition, id: cacheKey(request) };
}

function nearness({ ask: { threshold, isShadow } }: Similar): string {
  return isShadow ? '/shadow' : `/${threshold}`;
}

/** With the partition in it, so that whatever an index names lies in it, or nowhere. */
function keyIn({ key }: Partition, id: string): string {
  return `${key}.${id}`;
}
