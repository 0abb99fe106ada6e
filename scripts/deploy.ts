/*
 * npm run deploy -- --public-origin https://api.your-domain.example --email-from sign-in@your-domain.example [--dry-run]
 *
 * UNTESTED against a real Cloudflare account. `npm run smoke` walks it with the real wrangler against a stand-in for
 * Cloudflare's API (test/system/deploy/). --dry-run prints every command and changes nothing.
 *
 * Each step first checks what exists, so the script can be run again. Queues, databases and namespace must exist before
 * the Worker that binds them: a database and a queue for each store in wrangler.toml. Every store is migrated before the
 * code is uploaded.
 */
import { createInterface } from 'node:readline/promises'
import * as z from 'zod'
import { originFrom } from '../src/lib/origin.ts'
import { Commands } from './lib/deploy/commands.ts'
import { migrateStores } from './lib/deploy/migrate.ts'
import { ensureDatabases, ensureNamespace, ensureQueues, requireLogin } from './lib/deploy/resources.ts'
import { uploadWorker } from './lib/deploy/upload.ts'
import { DEPLOY_CONFIG, tracked, trackedText, writeDeployConfig } from './lib/deploy-config.ts'
import { readFlags } from './lib/flags.ts'
import { hasAddress, queueOf, storesIn } from './lib/stores-config.ts'
import { fail, run } from './lib/terminal.ts'

const NAME = tracked('name')
const STORES = storesIn(trackedText())
const QUEUES = [
  ...STORES.map(({ queue }) => queue),
  tracked('dead_letter_queue'),
  ...['FETCHES', 'DELIVERIES', 'SLOW_DELIVERIES', 'WATCHERS'].map((binding) => queueOf(trackedText(), binding)),
]
const { values: flags } = readFlags({
  usage: 'npm run deploy -- --public-origin ORIGIN --email-from ADDRESS [--dry-run]',
  about:
    'Creates missing queues, databases and the namespace, applies migrations, and uploads the Worker with its secrets.',
  flags: {
    'public-origin': {
      type: 'string',
      takes: 'ORIGIN',
      help: 'the address of the deployment, such as https://api.your-domain.example: links begin with it',
    },
    'email-from': {
      type: 'string',
      takes: 'ADDRESS',
      help: 'the sender of sign-in codes; its domain must be onboarded to Email Sending',
    },
    jurisdiction: {
      type: 'string',
      takes: 'eu|fedramp|us',
      help: 'where new databases may be stored; it cannot be changed later. Further stores are kept where the first is',
    },
    'dry-run': { type: 'boolean', help: 'print every command and change nothing' },
  },
  notes: 'PUBLIC_ORIGIN and EMAIL_FROM in the environment or in wrangler.toml do the same as the first two options.',
})
const dry = flags['dry-run'] === true
const commands = new Commands(dry)

await run(async () => {
  console.log(
    `Deploying ${NAME}. This script has not been tested against a real account: use --dry-run first and watch the output.`,
  )
  const publicOrigin = await readPublicOrigin()
  const emailFrom = readEmailFrom()
  await requireLogin(commands)
  await ensureQueues(commands, QUEUES)
  const databases = await ensureDatabases(commands, STORES, flags.jurisdiction)
  const kv = await ensureNamespace(commands, `${NAME}-kv`)
  const ids = STORES.map(({ number, binding }) => `${binding} ${databases.get(number)}`).join(', ')
  commands.told(
    `write ${DEPLOY_CONFIG}: wrangler.toml with the database ids (${ids}), KV id ${kv}, EMAIL_FROM ${emailFrom}, PUBLIC_ORIGIN ${publicOrigin}`,
  )
  if (!dry) writeDeployConfig({ databases, kv, emailFrom, publicOrigin })
  await migrateStores(commands, STORES)
  await uploadWorker(commands)
  console.log(`
${dry ? 'Nothing was changed.' : 'Deployed.'} SIGN_UP is "${tracked('SIGN_UP')}" in wrangler.toml. With "open", any email address can sign in and becomes a
user. With "invited", create the first user: npm run bootstrap -- --owner EMAIL --remote`)
})

/** What the links of the deployment begin with. Nothing can find it out before the first upload, so the operator says it. */
async function readPublicOrigin(): Promise<string> {
  const given = flags['public-origin'] ?? process.env.PUBLIC_ORIGIN ?? tracked('PUBLIC_ORIGIN')
  const stated = given === '' && !dry ? await typedOrigin() : given
  const origin = originFrom(stated)
  if (origin !== null) {
    requireAddress(origin)
    return origin
  }
  const what = `${stated === '' ? 'PUBLIC_ORIGIN is missing' : `${JSON.stringify(stated)} is not a public origin`}: sign-in emails would have no link, and the addresses
for vendors would be only paths. State the address of the deployment, without a path. With a domain of your own:
npm run deploy -- --public-origin https://api.your-domain.example. Without one, it is https://${NAME}.SUBDOMAIN.workers.dev,
with the subdomain of your account.`
  stopHere(what)
  return '<the address of the deployment>'
}

/** Cloudflare would deploy a Worker without an address, and say nothing about it. */
function requireAddress(origin: string): void {
  if (hasAddress(trackedText(), origin)) return
  const host = new URL(origin).hostname
  stopHere(`The Worker would have no address: nothing leads ${host} to it. Add this line to wrangler.toml, above the first [section]:
routes = [{ pattern = ${JSON.stringify(host)}, custom_domain = true }]`)
}

async function typedOrigin(): Promise<string> {
  if (!process.stdin.isTTY) return ''
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const typed = await terminal.question('The address of the deployment, such as https://api.your-domain.example: ')
  terminal.close()
  return typed.trim()
}

/** The sender of sign-in codes. Its domain must be onboarded to Cloudflare's Email Sending. */
function readEmailFrom(): string {
  const address = flags['email-from'] ?? process.env.EMAIL_FROM ?? tracked('EMAIL_FROM')
  if (!z.email().safeParse(address).success) fail(`${JSON.stringify(address)} is not an email address.`)
  if (address.endsWith('@example.com')) {
    const what = `Sign-in would not work: Cloudflare cannot send codes from ${address}. Use an address of a domain that is
onboarded to Email Sending: npm run deploy -- --email-from sign-in@your-domain.example`
    stopHere(what)
  }
  return address
}

/** Ends the run. A dry run goes on, to show the rest, and ends with an error too. */
function stopHere(what: string): void {
  if (!dry) fail(what)
  console.log(`\nA real run would stop here. ${what}`)
  process.exitCode = 1
}
