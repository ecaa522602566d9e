import type { NamedObject, ObjectKind } from '@sluice/contracts';

/** Whose an object is that stays at a provider, and where. */
export interface OwnerNote {
  readonly kind: ObjectKind;
  readonly workspaceId: string;
  /** The origin that was called: an id is of what answers there. */
  readonly origin: string;
  /** `@slug` of a saved provider, else the id of the catalogue's. */
  readonly provider: string;
  /** Tells credentials and hosts of one provider apart, and none of them. */
  readonly account: string;
  /** Which serves it; empty = none does, or it is not known. */
  readonly model: string;
  /** The service tier that was asked for, where what tells of its end does not say; undefined = none. */
  readonly tier?: string;
}

/** What a request names of what stays at providers. */
export interface NamedObjects {
  readonly ids: readonly {
    readonly kind: ObjectKind;
    readonly id: string;
    readonly field: string;
    /** By its address: it may be another workspace's, and says nothing of who is asked. */
    readonly isAddress?: true;
    /** It may be one of the vendor's own. */
    readonly mayBeCommon?: true;
    /** It is a file, whose rows may name others. */
    readonly rows?: NamedObject['rows'];
  }[];
  /** Of the request's own workspace; undefined = it is known to have none of them. */
  readonly own: OwnerNote | undefined;
  /** What of it another workspace has, and where. */
  readonly others: readonly {
    readonly id: string;
    readonly field: string;
    readonly origin: string;
  }[];
}
