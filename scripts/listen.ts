/*
 * npm run listen -- --forward URL: follows the feed of changes, and posts each change to a server of yours, signed as
 * Standard Webhooks say. One at a time and in order: a change that your server refuses is sent again until it takes it.
 */
import { createHash, randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { ask, explain, type Problem } from './lib/api.ts'
import { misused, readFlags } from './lib/flags.ts'
import { localProject } from './lib/inbox.ts'
import { readLocal, writeLocal } from './lib/paths.ts'
import { serverUrl } from './lib/running.ts'
import { localSession } from './lib/sign-in.ts'
import { run, sleep } from './lib/terminal.ts'

const COMMAND = {
  usage: 'npm run listen -- --forward URL [OPTIONS]',
  about: 'Posts each change of a project to your server, one at a time and in order, until you stop it (Ctrl+C).',
  flags: {
    forward: { type: 'string', takes: 'URL', help: 'your server' },
    types: { type: 'string', takes: 'TYPES', help: 'only these, such as subscription.*,customer.linked' },
    after: {
      type: 'string',
      takes: 'ID',
      help: 'start after this change, or latest (default: where the last run stopped)',
    },
    secret: {
      type: 'string',
      takes: 'SECRET',
      help: 'sign with this secret, whsec_… (default: one that it makes and keeps)',
    },
    url: { type: 'string', takes: 'URL', help: 'the service (default: the one that npm start runs in this checkout)' },
    token: { type: 'string', takes: 'TOKEN', help: 'an API key (default: the local project of npm run send)' },
    project: { type: 'string', takes: 'ID', help: 'its project; needed with --token' },
  },
  notes: `Your server verifies the signature with a library of standardwebhooks.com and the secret that is printed. It answers 2xx
once it has done its work. The same change can come twice, under the same webhook-id.`,
} as const

type Change = { id: string; type: string; at: string; object: { id: string } }
type Page = { data: Change[]; next: string; has_more: boolean; poll_after_s: number }
/** What is kept in .wrangler between two runs: a file for each project, server and choice of types. */
type Kept = { secret: string; position: string }

/** The longest wait (ms) before a change is sent again, or the feed is asked again after an error. */
const LONGEST_WAIT = 30_000
const SEND_WITHIN = 15_000

/** The API refuses the call, so that asking again is in vain. */
class Refused extends Error {}

await run(async () => {
  const args = await readArgs()
  const place = [args.url, args.project, args.forward, args.types ?? ''].join(' ')
  const file = `listen-${createHash('sha256').update(place).digest('hex').slice(0, 12)}.json`
  const kept = readLocal<Kept>(file)
  const secret = args.secret ?? kept?.secret ?? `whsec_${randomBytes(24).toString('base64')}`
  let after = args.after ?? kept?.position ?? 'latest'
  console.log(`Changes of ${args.project} → ${args.forward}\nSigned with ${secret}`)
  if (after !== 'latest') console.log(`From ${after}. Ctrl+C stops.\n`)
  for (let failures = 0; ; ) {
    const query = new URLSearchParams({ after, ...(args.types && { types: args.types }) })
    const page = await readPage(`${args.url}/platform/v1/changes?${query}`, args)
    if (page === 'expired') {
      console.log('The changes after this position are no longer kept. Continuing after the newest one.')
      after = 'latest'
    } else if (page === null) {
      failures += 1
      await sleep(waitAfter(failures))
    } else {
      failures = 0
      // A change that comes before this line is before the position.
      if (after === 'latest') console.log(`From ${page.next}. Ctrl+C stops.\n`)
      for (const change of page.data) {
        await deliver(change, args.forward, secret)
        keep(change.id)
      }
      keep(page.next)
      await sleep(page.poll_after_s * 1000)
    }
  }

  function keep(position: string): void {
    after = position
    writeLocal(file, { secret, position } satisfies Kept)
  }
})

async function readArgs() {
  const { values } = readFlags(COMMAND)
  const { forward, token, project, ...rest } = values
  if (forward === undefined || !URL.canParse(forward)) misused(COMMAND, '--forward takes the URL of your server')
  if ((token === undefined) !== (project === undefined)) misused(COMMAND, '--token and --project must be used together')
  const url = serverUrl(values.url)
  if (token !== undefined && project !== undefined) return { ...rest, forward, url, token, project }
  const session = await localSession(url)
  return { ...rest, forward, url, token: session.token, project: await localProject(url, session.token) }
}

/**
 * Reads a page of the feed.
 *
 * @returns null if the service does not answer now, as while it starts again
 * @throws if it refuses the call
 */
async function readPage(
  url: string,
  { token, project }: { token: string; project: string },
): Promise<Page | 'expired' | null> {
  try {
    const { status, body } = await ask<Page>(url, { token, project, patience: 1 })
    if (status === 200) return body as Page
    if (status === 410) return 'expired'
    if (status < 500 && status !== 429) throw new Refused(explain(body as Problem))
    console.log(`The service answered ${status}. Asking again.`)
  } catch (error) {
    if (error instanceof Refused) throw error
    console.log(`${(error as Error).message}\nAsking again.`)
  }
  return null
}

/** Posts a change until the server has taken it. */
async function deliver(change: Change, url: string, secret: string): Promise<void> {
  const body = JSON.stringify({ type: change.type, timestamp: change.at, data: change })
  for (let failures = 1; ; failures++) {
    const began = Date.now()
    const now = new Date()
    const headers = {
      'Content-Type': 'application/json',
      'webhook-id': change.id,
      'webhook-timestamp': `${Math.floor(now.getTime() / 1000)}`,
      'webhook-signature': new Webhook(secret).sign(change.id, now, body),
    }
    const answer = await post(url, headers, body)
    console.log(`${answer}  ${change.type}  ${change.object.id}  ${Date.now() - began} ms  ${change.id}`)
    if (typeof answer === 'number' && answer >= 200 && answer < 300) return
    await sleep(waitAfter(failures))
  }
}

/** @returns the status, or why there is none */
async function post(url: string, headers: Record<string, string>, body: string): Promise<number | string> {
  try {
    const signal = AbortSignal.timeout(SEND_WITHIN)
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    const { cause, name } = error as Error & { cause?: { code?: string } }
    return cause?.code ?? name
  }
}

/** Seconds that double: 1, 2, 4 … */
function waitAfter(failures: number): number {
  return Math.min(LONGEST_WAIT, 1000 * 2 ** (failures - 1))
}
