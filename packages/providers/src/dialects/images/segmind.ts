import type { JsonObject } from '@sluice/contracts';
import { modelSegment } from '../../address.ts';
import type { EndpointEntry } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { droppedFormat, openAiOnly, promptOf, sizeOf } from './request.ts';

const json = jsonDialect({
  encode(body) {
    const shaped = reshape(body, {
      rename: { n: 'samples', steps: 'num_inference_steps' },
      drop: openAiOnly,
      used: ['model', 'size', 'response_format'],
    });
    const size = sizeOf(body);
    const pixels: JsonObject =
      size === undefined ? {} : { img_width: size.width, img_height: size.height };
    return {
      body: { ...shaped.body, prompt: promptOf(body), ...pixels, base64: true },
      dropped: [...shaped.dropped, ...droppedFormat(body, 'b64_json')],
    };
  },
  decode(reply, context) {
    const image = objectOf(reply)?.image;
    const list = arrayOf(image) ?? (image === undefined ? [] : [image]);
    const images = allImages(list.map((base64) => imageItem({ base64 })));
    return images === undefined ? undefined : encodeImages(images, context);
  },
});

/** https://docs.segmind.com. The model is the path. */
export const segmindImages: EndpointEntry = {
  format: 'segmind/images',
  path: ({ model }) => `/${modelSegment(model)}`,
  dialect: {
    encode: json.encode,
    decode(bytes, context, head) {
      // Some models answer with the image itself, whatever they are asked.
      if (!String(head.headers['content-type']).startsWith('image/'))
        return json.decode(bytes, context, head);
      const { body, facts } = encodeImages([{ b64_json: bytes.toString('base64') }], context);
      return { body: Buffer.from(JSON.stringify(body)), facts };
    },
  },
};
