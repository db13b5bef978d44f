// Lets Node.js find the modules of packages that leave out the ends of their names: node --import ./resolve.js …
import {register} from 'node:module';

register('data:text/javascript,' + encodeURIComponent(`
  export const resolve = async (name, context, next) => {
    for (const end of ['', '.js', '/index.js']) {
      try {
        return await next(name + end, context);
      } catch (e) {
        if (end === '/index.js') throw e;
      }
    }
  };
`));
