/*
 * npm run deploy -- --public-origin https://api.your-domain.example --email-from sign-in@your-domain.example [--dry-run]
 *
 * UNTESTED against a real Cloudflare account. `npm run smoke` walks it with the real wrangler against a stand-in for
 * Cloudflare's API (scripts/lib/deploy/). --dry-run prints every command and changes nothing.
 *
 * Each step first checks what exists, so the script can be run again. Queues, database and namespace must exist before
 * the Worker that binds them. The secrets are sent with the first upload (--secrets-file), because `wrangler secret
 * put` would create an empty Worker if there is none yet. An upload keeps the secrets that the Worker already has.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import * as z from 'zod'
import { originFrom } from '../src/lib/origin.ts'
import { hintFor } from './lib/deploy/hints.ts'
import { DEPLOY_CONFIG, tracked, writeDeployConfig } from './lib/deploy-config.ts'
import { SECRETS } from './lib/dev-vars.ts'
import { readFlags } from './lib/flags.ts'
import { fail, run } from './lib/terminal.ts'
import { type Finished, wrangler } from './lib/wrangler.ts'

const NAME = tracked('name')
const DATABASE = tracked('database_name')
const NAMESPACE = `${NAME}-kv`
const QUEUES = [tracked('queue'), tracked('dead_letter_queue')]
const { values: flags } = readFlags({
  usage: 'npm run deploy -- --public-origin ORIGIN --email-from ADDRESS [--dry-run]',
  about: 'Creates missing queues, database and namespace, applies migrations, and uploads the Worker with its secrets.',
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
      help: 'where a new database may be stored; it cannot be changed later',
    },
    'dry-run': { type: 'boolean', help: 'print every command and change nothing' },
  },
  notes: 'PUBLIC_ORIGIN and EMAIL_FROM in the environment or in wrangler.toml do the same as the first two options.',
})
const dry = flags['dry-run'] === true

await run(async () => {
  console.log(
    `Deploying ${NAME}. This script has not been tested against a real account: use --dry-run first and watch the output.`,
  )
  const publicOrigin = await readPublicOrigin()
  const emailFrom = readEmailFrom()
  await requireLogin()
  for (const queue of QUEUES) await ensureQueue(queue)
  const database = await ensureDatabase()
  const kv = await ensureNamespace()
  told(
    `write ${DEPLOY_CONFIG}: wrangler.toml with database_id ${database}, KV id ${kv}, EMAIL_FROM ${emailFrom}, PUBLIC_ORIGIN ${publicOrigin}`,
  )
  if (!dry) writeDeployConfig({ database, kv, emailFrom, publicOrigin })
  await change(['d1', 'migrations', 'apply', 'DB', '--remote', '--config', DEPLOY_CONFIG])
  await upload(await missingSecrets())
  console.log(`
${dry ? 'Nothing was changed.' : 'Deployed.'} SIGN_UP is "${tracked('SIGN_UP')}" in wrangler.toml. With "open", any email address can sign in and becomes a
user. With "invited", create the first user: npm run bootstrap -- --owner EMAIL --remote`)
})

/** What the links of the deployment begin with. Nothing can find it out before the first upload, so the operator says it. */
async function readPublicOrigin(): Promise<string> {
  const given = flags['public-origin'] ?? process.env.PUBLIC_ORIGIN ?? tracked('PUBLIC_ORIGIN')
  const stated = given === '' && !dry ? await typedOrigin() : given
  const origin = originFrom(stated)
  if (origin !== null) return origin
  const what = `${stated === '' ? 'PUBLIC_ORIGIN is missing' : `${JSON.stringify(stated)} is not a public origin`}: sign-in mail would have no link, and the addresses
for vendors would be only paths. State the address of the deployment, without a path. With a domain of your own:
npm run deploy -- --public-origin https://api.your-domain.example. Without one, it is https://${NAME}.SUBDOMAIN.workers.dev,
with the subdomain of your account.`
  if (!dry) fail(what)
  console.log(`\nA real run would stop here. ${what}`)
  return '<the address of the deployment>'
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
    if (!dry) fail(what)
    console.log(`\nA real run would stop here. ${what}`)
  }
  return address
}

async function requireLogin(): Promise<void> {
  const { CLOUDFLARE_API_TOKEN, CLOUDFLARE_ACCOUNT_ID } = process.env
  if (CLOUDFLARE_API_TOKEN && CLOUDFLARE_ACCOUNT_ID && !dry) return // nothing to choose; the next command tries the token
  const { code, stdout } = await look(['whoami', '--json'])
  if (dry) return
  if (code !== 0) fail('You are not logged in to Cloudflare. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN.')
  const { accounts = [] } = JSON.parse(stdout) as { accounts?: { id: string; name: string }[] }
  if (accounts.length > 1 && !process.env.CLOUDFLARE_ACCOUNT_ID) {
    const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
    fail(`You have access to several accounts. Choose one with CLOUDFLARE_ACCOUNT_ID.\n${list}`)
  }
}

async function ensureQueue(name: string): Promise<void> {
  const { code } = await look(['queues', 'info', name])
  if (dry || code !== 0) await change(['queues', 'create', name], 'if it does not exist')
}

async function ensureDatabase(): Promise<string> {
  const find = async () => {
    const list = JSON.parse((await lookOrThrow(['d1', 'list', '--json'])) || '[]') as { name: string; uuid: string }[]
    return list.find(({ name }) => name === DATABASE)?.uuid
  }
  const known = await find()
  if (known !== undefined) return known
  const where = flags.jurisdiction === undefined ? [] : ['--jurisdiction', flags.jurisdiction]
  await change(['d1', 'create', DATABASE, ...where, '--update-config=false'], 'if it does not exist')
  return dry
    ? '<from the list>'
    : ((await find()) ?? fail(`${DATABASE} was created but is not listed yet. Run this again.`))
}

async function ensureNamespace(): Promise<string> {
  const find = async () => {
    const list = JSON.parse((await lookOrThrow(['kv', 'namespace', 'list'])) || '[]') as { title: string; id: string }[]
    return list.find(({ title }) => title === NAMESPACE)?.id
  }
  const known = await find()
  if (known !== undefined) return known
  await change(['kv', 'namespace', 'create', NAMESPACE, '--update-config=false'], 'if it does not exist')
  return dry
    ? '<from the list>'
    : ((await find()) ?? fail(`${NAMESPACE} was created but is not listed yet. Run this again.`))
}

/**
 * The secrets that the Worker lacks. A value comes from the environment, or is generated here and stored nowhere else.
 * An existing secret is never overwritten: without ENCRYPTION_KEY_1 the signing secrets in the database are lost.
 */
async function missingSecrets(): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await look(['secret', 'list', '--config', DEPLOY_CONFIG])
  if (dry) return Object.fromEntries(Object.keys(SECRETS).map((name) => [name, '']))
  if (code !== 0 && !/not found/i.test(stderr + stdout))
    fail(`Could not list the secrets of the Worker:\n${stderr || stdout}`)
  const present = new Set(code === 0 ? (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name) : [])
  const missing = Object.entries(SECRETS).filter(([name]) => !present.has(name))
  return Object.fromEntries(missing.map(([name, make]) => [name, process.env[name] ?? make()]))
}

async function upload(secrets: Record<string, string>): Promise<void> {
  const names = Object.keys(secrets)
  const command = ['deploy', '--config', DEPLOY_CONFIG]
  if (names.length === 0) return change(command)
  told(
    `generate ${names.join(' and ')} if the Worker has none (the only copy; set them in the environment to keep your own)`,
  )
  const folder = mkdtempSync(join(tmpdir(), 'deploy-'))
  try {
    const file = join(folder, 'secrets.json')
    if (!dry) writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
    await change([...command, '--secrets-file', file])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function told(what: string): void {
  console.log(`\n# ${what}`)
}

/** A command that only reads. A dry run prints it and does not run it. */
async function look(args: readonly string[]) {
  console.log(`\n$ wrangler ${args.join(' ')}`)
  return dry ? { code: 0, stdout: '', stderr: '' } : wrangler(args)
}

async function lookOrThrow(args: readonly string[]): Promise<string> {
  console.log(`\n$ wrangler ${args.join(' ')}`)
  if (dry) return ''
  const finished = await wrangler(args)
  requireSuccess(args, finished, finished.stderr || finished.stdout)
  return finished.stdout
}

async function change(args: readonly string[], when = ''): Promise<void> {
  console.log(`\n$ wrangler ${args.join(' ')}${dry && when ? `   # ${when}` : ''}`)
  if (!dry) requireSuccess(args, await wrangler(args, { show: true }), '')
}

/** Ends the script where a command failed: what it said, unless that was shown, and what to do about it. */
function requireSuccess(args: readonly string[], { code, stdout, stderr }: Finished, said: string): void {
  if (code === 0) return
  const hint = hintFor(args, stdout + stderr)
  fail(
    [said.trim(), `wrangler ${args.slice(0, 3).join(' ')} failed (exit code ${code}).`, hint]
      .filter(Boolean)
      .join('\n'),
  )
}
