/*
 * A server that only receives webhooks: it verifies each, keeps the newest revision of each object, and answers once that is stored. It
 * refuses some, and can be killed at any moment.
 */
import { createServer } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { Webhook } from 'standardwebhooks'

const [file = '', port = '', secret = '', share = '0'] = process.argv.slice(2)
const database = new DatabaseSync(file)
database.exec(`PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS wrong (what TEXT);
  CREATE TABLE IF NOT EXISTS objects (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, object TEXT) WITHOUT ROWID;`)
const note = database.prepare('INSERT OR IGNORE INTO seen VALUES (?)')
const complain = database.prepare('INSERT INTO wrong VALUES (?)')
const keep = database.prepare(`INSERT INTO objects VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET revision = excluded.revision, object = excluded.object WHERE excluded.revision >= revision`)

type Message = {
  data: {
    id: string
    revision: number | null
    object: { type: string; id: string; vendor: string | null }
    current: { revision: number | null; object: object } | null
  }
}

createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    if (Math.random() < Number(share)) return response.writeHead(500).end('not now')
    const headers = request.headers as Record<string, string>
    try {
      const { data } = new Webhook(secret).verify(Buffer.concat(parts).toString(), headers) as Message
      if (data.id !== headers['webhook-id']) throw new Error(`${headers['webhook-id']} has the body of ${data.id}`)
      const { type, vendor, id } = data.object
      const revision = data.current?.revision ?? data.revision ?? 0
      database.exec('BEGIN')
      note.run(data.id)
      keep.run(
        [type, vendor, id].filter(Boolean).join(' '),
        revision,
        data.current && JSON.stringify(data.current.object),
      )
      database.exec('COMMIT')
      response.writeHead(204).end()
    } catch (error) {
      complain.run(String(error))
      response.writeHead(400).end()
    }
  })
}).listen(Number(port), '127.0.0.1', () => console.log('Ready:'))
