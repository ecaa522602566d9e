/**
 * The model that what is billed later counts for, as a live call does: the one that was asked, where the one that answered is a version
 * of it (`gpt-4o` and `gpt-4o-2024-08-06`). '' = neither is known.
 */
export function askedModel(asked: string, answered: string): string {
  if (answered === '' || asked === '') return answered || asked;
  return answered.startsWith(asked) && version.test(answered.slice(asked.length))
    ? asked
    : answered;
}

/** As OpenAI, Vertex AI and Mistral date their models. */
const version = /^[@-](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3,4})$/;
