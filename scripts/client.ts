/*
 * npm run client: builds a typed client of the API as a package of its own, in dist/client. It holds no source of the
 * server: its types are generated from the OpenAPI document.
 */
import { buildClient, CLIENT } from './lib/build-client.ts'
import { readFlags } from './lib/flags.ts'
import { run } from './lib/terminal.ts'

await run(async () => {
  readFlags({ usage: 'npm run client', about: 'Builds a typed client of the API in dist/client.', flags: {} })
  await buildClient()
  console.log(`The client is in ${CLIENT}. Pack it with npm pack, or install it: npm install ${CLIENT}`)
})
