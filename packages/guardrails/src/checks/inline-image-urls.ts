import type { ParametersOf } from '@sluice/contracts/checks';
import { type CheckContext, CheckError, type CheckFunction } from '../check.ts';
import { isAllowedHost } from '../images/allowed-host.ts';
import { type Picture, withPictures } from '../images/image-places.ts';
import { imageType } from '../images/image-type.ts';
import { isPublicName } from '../public-name.ts';

type Parameters = ParametersOf<'default.inlineImageUrls'>;

/** Puts the pictures of a request in place of their addresses: not every provider fetches them. */
export function inlineImageUrls(parameters: Parameters): CheckFunction {
  const { providers } = parameters;
  return async (context) => {
    const isMeant = providers == null || providers.includes(context.provider);
    const urls = context.event === 'beforeRequest' && isMeant ? urlsIn(context) : [];
    if (urls.length === 0)
      return {
        verdict: true,
        data: { verdict: true, explanation: 'Nothing was to be fetched.', images: 0 },
      };
    if (urls.length > imagesMax)
      throw new CheckError(
        'TextTooLong',
        `The request has more than ${imagesMax} images elsewhere.`,
      );
    const pictures = await fetchAll(context, urls, parameters);
    const request = withPictures(context.request, (url) => pictures.get(url));
    const explanation = `${urls.length} images were put into the request.`;
    return { verdict: true, data: { verdict: true, explanation, images: urls.length }, request };
  };
}

/** More than models look at. */
const imagesMax = 20;
/** Of all pictures of a request; they are held until it is sent. */
const bytesInAllMax = 50 * 1024 * 1024;
const atOnce = 4;

function urlsIn({ request }: CheckContext): string[] {
  const urls = new Set<string>();
  withPictures(request, (url) => {
    if (/^https?:\/\//i.test(url)) urls.add(url);
    return undefined;
  });
  return [...urls];
}

async function fetchAll(
  context: CheckContext,
  urls: readonly string[],
  parameters: Parameters,
): Promise<Map<string, Picture>> {
  const pictures = new Map<string, Picture>();
  const waiting = urls.values();
  let bytes = 0;
  const fetchSome = async () => {
    // They share the one iterator: each takes what is next.
    for (const url of waiting) {
      const { picture, length } = await fetchOne(context, url, parameters);
      bytes += length;
      if (bytes > bytesInAllMax)
        throw new CheckError('TextTooLong', 'The images of the request are too large together.');
      pictures.set(url, picture);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, fetchSome));
  return pictures;
}

/** The request names the host, so it has to be a public one, whoever wrote the config. */
async function fetchOne(
  { ask }: CheckContext,
  url: string,
  { maxSizeBytes, allowedHosts }: Parameters,
): Promise<{ picture: Picture; length: number }> {
  const host = URL.parse(url)?.hostname ?? '';
  if (!isPublicName(host) || (allowedHosts !== undefined && !isAllowedHost(host, allowedHosts)))
    throw new CheckError('HostFailed', 'An image stands at a host that may not be asked.');
  const { status, body } = await ask({
    url,
    method: 'GET',
    headers: { accept: 'image/*' },
    by: 'caller',
    bytesMax: maxSizeBytes,
    isHeld: true,
  });
  if (status !== 200)
    throw new CheckError('HostFailed', `The host of an image answered with status ${status}.`);
  const type = imageType(body);
  if (type === undefined)
    throw new CheckError('HostFailed', 'What stands at the address of an image is none.');
  return { picture: { type, base64: body.toString('base64') }, length: body.length };
}
