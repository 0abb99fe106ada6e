/*
 * node scripts/build.ts: wrangler's build step, see wrangler.toml. It builds the console's assets. For a plain `wrangler
 * dev` it also makes what a local server needs: secrets in .dev.vars, and the tables. `npm start` does that itself.
 */
import { buildAssets } from './assets.ts'
import { prepareLocal } from './lib/prepare.ts'

buildAssets()
if (process.env.WRANGLER_COMMAND === 'dev' && process.env.LOCAL_PREPARED === undefined) await prepareLocal()
