import type { EndpointEntry } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';
import { reshape } from '../reshape.ts';
import { allImages, encodeImages, imageItem } from './reply.ts';
import { droppedFormat, openAiOnly, promptOf, sizeOf } from './request.ts';

/** https://docs.hyperbolic.xyz/docs/image-generation */
export const hyperbolicImages: EndpointEntry = {
  format: 'hyperbolic/images',
  path: '/image/generation',
  dialect: jsonDialect({
    encode(body) {
      promptOf(body);
      const shaped = reshape(body, {
        rename: { model: 'model_name', n: 'num_images' },
        drop: openAiOnly,
        used: ['size', 'response_format'],
      });
      return {
        body: { ...shaped.body, ...sizeOf(body) },
        dropped: [...shaped.dropped, ...droppedFormat(body, 'b64_json')],
      };
    },
    decode(reply, context) {
      const items = arrayOf(objectOf(reply)?.images)?.map((item) =>
        imageItem({ base64: objectOf(item)?.image }),
      );
      const images = allImages(items ?? []);
      return images === undefined ? undefined : encodeImages(images, context);
    },
  }),
};
