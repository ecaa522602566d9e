/** A job that a provider does for the service, and where. */
export interface ManagedJob {
  /** Of the saved provider. */
  readonly slug: string;
  /** The provider's own. */
  readonly id: string;
}

const prefix = 'ftjob-svc_';
const idLengthMax = 2048;

/** Says both, so that nothing has to be kept of it: whoever makes one up names a provider, which a header can do as well. */
export function managedJobId({ slug, id }: ManagedJob): string {
  return prefix + Buffer.from(`${slug}\n${id}`).toString('base64url');
}

/** Undefined = it is none of these. */
export function readManagedJob(shown: string): ManagedJob | undefined {
  if (!shown.startsWith(prefix) || shown.length > idLengthMax) return undefined;
  const text = Buffer.from(shown.slice(prefix.length), 'base64url').toString();
  const [slug = '', id = ''] = text.split('\n');
  const isOurs = /^[\w.-]+$/.test(slug) && id !== '' && !/^\.+$/.test(id);
  return isOurs && managedJobId({ slug, id }) === shown ? { slug, id } : undefined;
}
