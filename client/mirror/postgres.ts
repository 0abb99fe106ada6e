import type { Database, Row } from './database.ts'

/** How long (ms) to wait for a connection. */
const CONNECT_WITHIN = 10_000
/** https://www.postgresql.org/docs/current/catalog-pg-type.html */
const INT8 = 20
const JSON_TYPES = [114, 3802]
/**
 * Classes of https://www.postgresql.org/docs/current/errcodes-appendix.html: connections, rolled back by the database, out of resources,
 * stopped by the operator.
 */
const PASSING_CLASSES = ['08', '40', '53', '57']
const PASSING_CODES = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN']

export async function openPostgres(url: string): Promise<Database> {
  const { default: pg } = await import('pg').catch(() => {
    throw new Error('To mirror into PostgreSQL, install its driver first: npm install pg')
  })
  const types = {
    getTypeParser(type: number, format?: 'text' | 'binary') {
      if (type === INT8) return Number
      // As text, as SQLite has it.
      if (JSON_TYPES.includes(type)) return (text: string) => text
      return format === undefined ? pg.types.getTypeParser(type) : pg.types.getTypeParser(type, format as 'text')
    },
  }
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_WITHIN,
    keepAlive: true,
    application_name: 'platform-api-mirror',
    types,
  })
  // A connection that breaks while nothing is asked: the next statement fails.
  client.on('error', () => {})
  await client.connect()
  return {
    jsonType: 'JSONB',
    findTable: 'SELECT 1 AS found WHERE to_regclass($1::text) IS NOT NULL',
    async transaction(work) {
      await client.query('BEGIN')
      try {
        const result = await work(
          async (statement, values = []) => (await client.query(statement, [...values])).rows as Row[],
        )
        await client.query('COMMIT')
        return result
      } catch (error) {
        // If the connection is gone, so is the transaction.
        await client.query('ROLLBACK').catch(() => {})
        throw error
      }
    },
    isPassing(error) {
      const { code = '', message } = error as { code?: string; message: string }
      return (
        PASSING_CODES.includes(code) ||
        PASSING_CLASSES.includes(code.slice(0, 2)) ||
        /connection terminated|connection error|not queryable|timeout expired/i.test(message)
      )
    },
    close: () => client.end(),
  }
}
