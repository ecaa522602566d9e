import type { ConfigNode } from '@sluice/contracts';
import type { AnswerOf, BodyOf } from '@sluice/contracts/admin';
import type { LogReader } from '@sluice/log-content';

export type Asked = BodyOf<'simulations.create'>;
export type Report = AnswerOf<'simulations.create'>;

/** All that a simulation needs beside the requests: values, so that a thread can be given them. */
export interface SimulationTask {
  readonly reader: LogReader;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  readonly keptDays: number;
  readonly requestsMax: number;
  readonly timeMsMax: number;
  /** Undefined = every request keeps its own. */
  readonly config: ChangedConfig | undefined;
  readonly rateLimits: NonNullable<Asked['rate_limits']>;
  readonly usageLimits: NonNullable<Asked['usage_limits']>;
  readonly allowedModels: NonNullable<Asked['allowed_models']>;
  readonly providers: readonly ProviderOfTask[];
}

/** A document, with the configs that it refers to, by slug. */
export interface ConfigDocument {
  readonly slug: string;
  readonly node: ConfigNode;
  readonly references: ReadonlyMap<string, ConfigNode>;
}

export interface ChangedConfig extends ConfigDocument {
  /** Of the config that it stands for; undefined = it is given to every request. */
  readonly replaces: string | undefined;
}

/** A saved provider, as far as prices and names go. */
export interface ProviderOfTask {
  readonly slug: string;
  /** Of the catalogue. */
  readonly id: string;
  readonly models: readonly {
    readonly slug: string;
    readonly prices: unknown;
    readonly base: string | null;
  }[];
  readonly multipliers: Readonly<Record<string, number>>;
}

/** Documents of versions, by their ids; those that are gone are missing. */
export type FindVersions = (ids: readonly string[]) => Promise<ReadonlyMap<string, ConfigDocument>>;
