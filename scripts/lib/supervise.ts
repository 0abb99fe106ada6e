/*
 * Runs a command in a process group of its own (it is spawned detached) and ends that whole group when its starter is
 * gone: then this end of standard input closes, even when the starter was killed with SIGKILL. wrangler by itself leaves
 * its workerd processes behind, and the port taken, when it is killed that way.
 */
import { spawn } from 'node:child_process'

/** How long the command gets to end by itself, in milliseconds. */
const GRACE = 3000
const [command = '', ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
let ending = false

function end(): void {
  if (ending) return
  ending = true
  child.kill('SIGTERM')
  setTimeout(killGroup, GRACE)
}

function killGroup(): void {
  process.kill(-process.pid, 'SIGKILL') // this process too
}

process.stdin.on('end', end).on('error', end).resume()
process.on('SIGTERM', end)
process.on('SIGHUP', end)
process.on('SIGINT', () => {}) // Ctrl-C is the starter's to answer
child.on('error', killGroup)
child.on('exit', killGroup)
