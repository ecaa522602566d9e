import { z } from 'zod';
import { referenceField } from '../../fields/fields.ts';

/** Fields that prompts and partials share. */
export const templateField = z.string().max(1_000_000);
/** As its history counts them, from 1. */
export const versionNumber = z.int().min(1).max(2_147_483_647);
export const statusField = z.enum(['active', 'archived']);

/**
 * Whom a prompt or partial is shared with, by a shape of ours: none is
 * published. Whoever is named may look at it and copy it, and nothing else.
 */
export const shareBody = z
  .object({
    workspaces: z
      .union([z.literal('all'), z.array(referenceField).min(1).max(1000)])
      .default('all'),
  })
  .prefault({});
/** The same as it is shown: workspaces by UUID. */
export const shareShown = z.object({
  workspaces: z.union([z.literal('all'), z.array(z.uuid())]),
});
