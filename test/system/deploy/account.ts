import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'

/** What goes wrong in an account, for the tests of npm run deploy. */
export type Trouble = {
  /** The account has not chosen its workers.dev subdomain. */
  noSubdomain?: boolean
  /** The token may not do this: a part of the path. */
  forbidden?: string
  /** The first upload of the Worker fails. */
  failingUpload?: boolean
}

export type Asked = { method: string; path: string; query: URLSearchParams; body: string }
export type Said = { status: number; body: unknown }

const ACCOUNT = 'acc0'.repeat(8)
export const ACCOUNT_ID = ACCOUNT

/** One account at Cloudflare, with as much of its API as `wrangler` asks of it while it deploys. */
export class Account {
  readonly databases: { name: string; uuid: string; jurisdiction?: string; sqlite: DatabaseSync }[] = []
  readonly queues: {
    queue_name: string
    queue_id: string
    consumers: { type: string; script: string; consumer_id: string }[]
  }[] = []
  readonly namespaces: { id: string; title: string }[] = []
  /** The uploads of the Worker: the metadata of each. */
  readonly uploads: { bindings: Record<string, unknown>[] }[] = []
  readonly secrets = new Set<string>()
  readonly asked: string[] = []
  /** How many queues a page of their list has. */
  queuesOnPage = 100
  trouble: Trouble

  constructor(trouble: Trouble = {}) {
    this.trouble = trouble
  }

  answer(asked: Asked): Said {
    this.asked.push(`${asked.method} ${asked.path.replace(`/accounts/${ACCOUNT}`, '')}`)
    if (this.trouble.forbidden && asked.path.includes(this.trouble.forbidden)) {
      return refused(403, 10000, 'Authentication error')
    }
    return this.of(asked) ?? refused(404, 7003, `Could not route to ${asked.method} ${asked.path}`)
  }

  private of(asked: Asked): Said | null {
    if (asked.path === '/user') return ok({ id: 'user', email: 'operator@example.com' })
    if (asked.path === '/user/tokens/verify') return ok({ id: 'token', status: 'active' })
    if (asked.path === '/accounts' || asked.path === '/memberships') {
      const account = { id: ACCOUNT, name: 'Example' }
      return listed([asked.path === '/accounts' ? account : { account }], asked.query)
    }
    const [root, account, kind, ...rest] = asked.path.split('/').slice(1)
    if (root !== 'accounts' || account !== ACCOUNT) return null
    if (kind === 'queues') return this.ofQueues(asked, rest)
    if (kind === 'd1') return this.ofD1(asked, rest.slice(1))
    if (kind === 'storage') return this.ofKv(asked)
    if (kind === 'workers') return this.ofWorkers(asked, rest)
    return null
  }

  private ofQueues({ method, query, body }: Asked, [id, part]: string[]): Said | null {
    if (method === 'PATCH') return ok(this.queues.find((one) => one.queue_id === id))
    if (part === 'consumers') {
      const queue = this.queues.find((one) => one.queue_id === id)
      if (method === 'POST')
        queue?.consumers.push({ type: 'worker', script: 'platform-api', consumer_id: randomUUID() })
      return ok({})
    }
    if (method === 'POST') {
      const queue = { queue_name: JSON.parse(body).queue_name, queue_id: randomUUID(), consumers: [] }
      this.queues.push(queue)
      return ok(queue)
    }
    const names = query.getAll('name')
    const found = this.queues.filter(({ queue_name }) => names.length === 0 || names.includes(queue_name))
    const rows = found.map((queue) => ({
      ...queue,
      producers_total_count: 0,
      consumers_total_count: queue.consumers.length,
    }))
    return listed(rows, query, this.queuesOnPage)
  }

  private ofD1({ method, body, query }: Asked, [id, part]: string[]): Said | null {
    const database = this.databases.find(({ uuid, name }) => uuid === id || name === id)
    if (id === undefined && method === 'POST') {
      const { name, jurisdiction } = JSON.parse(body)
      if (this.databases.some((one) => one.name === name)) return refused(400, 7502, 'database already exists')
      const made = {
        name,
        uuid: randomUUID(),
        ...(jurisdiction && { jurisdiction }),
        sqlite: new DatabaseSync(':memory:'),
      }
      this.databases.push(made)
      return ok({ name, uuid: made.uuid })
    }
    if (id === undefined) {
      const found = this.databases.filter(({ name }) => !query.get('name') || name === query.get('name'))
      return listed(
        found.map(({ name, uuid, jurisdiction = null }) => ({ name, uuid, jurisdiction })),
        query,
      )
    }
    if (!database) return refused(404, 7404, `The database ${id} could not be found`)
    if (part === 'query') return this.ofQuery(database, JSON.parse(body).sql)
    if (part === 'time_travel') return ok({ bookmark: 'a-bookmark' })
    return ok({ name: database.name, uuid: database.uuid })
  }

  /** Runs the statements in a real SQLite, so that a migration fails here as it would there. */
  private ofQuery({ sqlite }: { sqlite: DatabaseSync }, sql: string): Said {
    try {
      // Each statement of a script has a result of its own. A migration may have triggers, whose statements are not split.
      const all = /\bCREATE\b/i.test(sql) ? [sql] : sql.split(/;\s*\n/)
      sqlite.exec('SAVEPOINT query')
      const results = all.map((one) => (/^\s*SELECT\b/i.test(one) ? sqlite.prepare(one).all() : void sqlite.exec(one)))
      sqlite.exec('RELEASE query')
      return ok(results.map((rows) => ({ results: rows ?? [], success: true, meta: {} })))
    } catch (error) {
      if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
      return refused(400, 7500, `${(error as Error).message}: SQLITE_ERROR`)
    }
  }

  private ofKv({ method, query, body }: Asked): Said {
    if (method !== 'POST') return listed(this.namespaces, query)
    const { title } = JSON.parse(body)
    if (this.namespaces.some((one) => one.title === title)) {
      return refused(400, 10014, 'create namespace: a namespace with this account ID and title already exists')
    }
    const namespace = { id: randomUUID().replaceAll('-', ''), title }
    this.namespaces.push(namespace)
    return ok(namespace)
  }

  private ofWorkers(asked: Asked, [kind, , ...rest]: string[]): Said | null {
    const exists = this.uploads.length > 0
    const missing = refused(404, 10007, 'This Worker does not exist on your account.')
    if (kind === 'subdomain') {
      return this.trouble.noSubdomain ? refused(404, 10007, 'no subdomain') : ok({ subdomain: 'example' })
    }
    if (kind === 'services')
      return exists
        ? ok({
            default_environment: {
              environment: 'production',
              script: { tag: 'tag', tags: [], last_deployed_from: 'wrangler' },
            },
          })
        : missing
    if (kind === 'workers') return exists ? ok({ subdomain: { enabled: true, previews_enabled: false } }) : missing
    if (kind === 'assets') return ok({ jwt: 'completed' })
    if (kind !== 'scripts') return null
    return this.ofScript(asked, rest, exists ? null : missing)
  }

  private ofScript({ method, body }: Asked, [part, sub]: string[], missing: Said | null): Said | null {
    if (part === 'assets-upload-session') return ok({ jwt: 'completed', buckets: [] })
    if ((part === undefined && method === 'PUT') || (part === 'versions' && method === 'POST')) {
      if (this.trouble.failingUpload) return refused(400, 10021, 'binding EMAIL: the sender domain is not onboarded')
      const metadata = JSON.parse(/name="metadata"[^{]*(\{.*?\})\r?\n--/s.exec(body)?.[1] ?? '{}')
      this.uploads.push(metadata)
      for (const { type, name } of metadata.bindings) if (type === 'secret_text') this.secrets.add(name)
      const id = randomUUID()
      return ok({ id, deployment_id: id, startup_time_ms: 20, resources: { script: { etag: 'etag' } } })
    }
    if (missing) return missing
    if (part === 'secrets') return ok([...this.secrets].map((name) => ({ name, type: 'secret_text' })))
    if (part === 'deployments') return ok(method === 'POST' ? { id: randomUUID() } : { deployments: [] })
    if (part === 'settings' || part === 'script-settings') return ok({ bindings: this.uploads.at(-1)?.bindings ?? [] })
    if (part === 'subdomain') return ok({ enabled: true, previews_enabled: false })
    if (part === 'schedules' || sub === 'schedules') return ok({ schedules: [] })
    return null
  }
}

/** One page of a list. */
function listed(rows: readonly unknown[], query: URLSearchParams, onPage = 100): Said {
  const page = Number(query.get('page') ?? 1)
  const per_page = Number(query.get('per_page') ?? onPage)
  const result = rows.slice((page - 1) * per_page, page * per_page)
  const total_pages = Math.ceil(rows.length / per_page)
  return ok(result, { page, per_page, count: result.length, total_count: rows.length, total_pages })
}

function ok(result: unknown, result_info?: unknown): Said {
  return {
    status: 200,
    body: { success: true, errors: [], messages: [], result, ...(result_info !== undefined && { result_info }) },
  }
}

function refused(status: number, code: number, message: string): Said {
  return { status, body: { success: false, errors: [{ code, message }], messages: [], result: null } }
}
