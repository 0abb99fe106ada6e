import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../paths.ts'
import { ACCOUNT_ID, Account } from './account.ts'
import { serveAccount } from './stand-in.ts'

/** Not the file of a real deployment. */
const CONFIG = 'wrangler.deploy-walk.toml'
const NAME = 'platform-api'

/**
 * Walks through npm run deploy, each a test: the script and wrangler are the real ones, and an account of our own answers
 * them. Nothing leaves this machine.
 */
export function walks(): [name: string, walk: () => Promise<void>][] {
  const account = new Account({ noSubdomain: true })
  const uploads = (n: number) => same('uploads', account.uploads.length, n)
  const creations = () =>
    account.asked.filter((line) => /^POST \/(queues|d1\/database|storage\/kv\/namespaces)$/.test(line)).length
  return [
    [
      'an account without a workers.dev subdomain is told to choose one',
      async () => {
        must(await deploy(account, ['--jurisdiction', 'eu']), 1, 'Choose one under Workers & Pages')
        same('creations', creations(), 4)
        uploads(0)
      },
    ],
    [
      'the first run that gets through continues from there, and generates secrets',
      async () => {
        account.trouble = {}
        must(await deploy(account), 0, 'Deployed.')
        same('creations', creations(), 4)
        uploads(1)
        expectDeployed(account)
      },
    ],
    [
      'the next run creates nothing, applies nothing again, and leaves the secrets alone',
      async () => {
        must(await deploy(account), 0, 'No migrations to apply')
        same('creations', creations(), 4)
        uploads(2)
        const sent = account.uploads[1]?.bindings.filter(({ type }) => type === 'secret_text')
        same('secrets that were sent', sent, [])
        same('consumers', consumersOf(account), [1, 1])
      },
    ],
    [
      'a migration that fails leaves the Worker as it is',
      async () => {
        // All are to be applied once more, but their tables are there.
        account.databases[0]?.sqlite.exec('DELETE FROM d1_migrations')
        must(await deploy(account), 1, 'A migration failed, so the Worker was not uploaded')
        uploads(2)
      },
    ],
    [
      'a token without a permission is told which it needs',
      async () => {
        account.trouble = { forbidden: '/d1/' }
        must(await deploy(account), 1, 'D1: Edit')
        uploads(2)
      },
    ],
  ]
}

/** What the account must have after the first upload. */
function expectDeployed(account: Account): void {
  const [database] = account.databases
  same('queues', names(account.queues, 'queue_name'), [`${NAME}-events`, `${NAME}-events-dead`])
  same('database', [database?.name, database?.jurisdiction], [NAME, 'eu'])
  same('namespaces', names(account.namespaces, 'title'), [`${NAME}-kv`])
  same('secrets', [...account.secrets].sort(), ['CODE_PEPPER', 'ENCRYPTION_KEY_1'])
  same('consumers', consumersOf(account), [1, 1])
  const bound = new Map(account.uploads[0]?.bindings.map((binding) => [binding.name, binding]))
  same('DB', bound.get('DB')?.id, database?.uuid)
  same('KV', bound.get('KV')?.namespace_id, account.namespaces[0]?.id)
  same('PUBLIC_ORIGIN', bound.get('PUBLIC_ORIGIN')?.text, 'https://api.example.org')
  same('METRICS', bound.get('METRICS')?.type, 'analytics_engine')
  const tables = database?.sqlite.prepare("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get()
  if (Number(tables?.n) < 15) throw new Error(`the migrations made ${tables?.n} tables`)
  const migrated = account.asked.findLastIndex((line) => line.endsWith('/query'))
  const uploaded = account.asked.indexOf(`PUT /workers/scripts/${NAME}`)
  if (migrated < 0 || uploaded < migrated) throw new Error('the upload did not come after the migrations')
}

const consumersOf = ({ queues }: Account) => queues.map(({ consumers }) => consumers.length)
const names = <K extends string>(rows: readonly Record<K, string>[], name: K) => rows.map((row) => row[name])

type Ended = { code: number | null; said: string }

async function deploy(account: Account, flags: readonly string[] = []): Promise<Ended> {
  const { url, close } = await serveAccount(account)
  const own = ['--public-origin', 'https://api.example.org', '--email-from', 'sign-in@example.org']
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(process.execPath, ['scripts/run.js', 'scripts/deploy.ts', ...own, ...flags], {
        cwd: ROOT,
        env: {
          ...process.env,
          NODE_NO_WARNINGS: '1',
          CLOUDFLARE_API_BASE_URL: url,
          CLOUDFLARE_API_TOKEN: 'a-token-of-nobody',
          CLOUDFLARE_ACCOUNT_ID: ACCOUNT_ID,
          DEPLOY_CONFIG: CONFIG,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
      child.on('error', reject)
      child.on('close', (code) => resolve({ code, said }))
    })
  } finally {
    close()
    rmSync(join(ROOT, CONFIG), { force: true })
  }
}

function must({ code, said }: Ended, expected: number, saying: string): void {
  if (code !== expected || !said.includes(saying)) throw new Error(`exit code ${code}:\n${said}`)
}

function same(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`)
}
