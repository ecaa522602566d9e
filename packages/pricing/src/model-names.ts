type Rewrite = (model: string) => string;

const afterLastSlash: Rewrite = (model) => model.slice(model.lastIndexOf('/') + 1);

/** `gpt-4o-2031-01-01`, `claude-x@20310101`, `claude-x-20310101`: the name without its day. */
const withoutDate: Rewrite = (model) => model.replace(/(?:-\d{4}-\d{2}-\d{2}|[@-]\d{8})$/, '');

/** Applied one after the other; each result is tried. */
const rewrites: Readonly<Record<string, readonly Rewrite[]>> = {
  // Ids come as `arn:…:inference-profile/us.vendor.model-v1:0` (profile ARN, region, vendor, model).
  bedrock: [
    afterLastSlash,
    (model) => model.replace(/^(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|global)\./, ''),
    (model) => model.replace(/^[a-z0-9-]+\.(?=[a-z])/, ''),
  ],
  // `publishers/google/models/x`, `google/x`, `models/x`.
  google: [afterLastSlash],
  'vertex-ai': [afterLastSlash],
  // The catalogue knows Fireworks' models by their full path, callers often send the last part.
  'fireworks-ai': [(model) => `accounts/fireworks/models/${afterLastSlash(model)}`],
  huggingface: [(model) => model.replace(/:[^:/]*$/, '')],
};

/** The names under which a price may be listed, most exact first. */
export function candidateNames(provider: string, model: string): readonly string[] {
  const names = new Set<string>([model]);
  let name = model.replace(/^@[^/]+\//, '');
  // Workers AI's own names begin with `@cf/`; there the prefix is part of the name.
  if (provider === 'workers-ai') name = model;
  names.add(name);
  const key = provider === 'bedrock-mantle' ? 'bedrock' : provider;
  for (const rewrite of Object.hasOwn(rewrites, key) ? (rewrites[key] ?? []) : []) {
    name = rewrite(name);
    names.add(name);
  }
  for (const known of [...names]) names.add(withoutDate(known));
  names.delete('');
  return [...names];
}
