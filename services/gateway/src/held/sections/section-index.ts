import type { DescMessage, MessageShape } from '@bufbuild/protobuf';

/** A section of a bundle: how its items are found. */
export interface SectionIndex<Desc extends DescMessage> {
  readonly schema: Desc;
  /** Numbers of the two text fields that an item is found by, its id first. */
  readonly nameFields: readonly [number, number];
  readonly names: (message: MessageShape<Desc>) => readonly [id: string, name: string];
  /** How many characters it takes, about. */
  readonly weight: (message: MessageShape<Desc>) => number;
}
