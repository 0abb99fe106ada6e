/*
 * Runs a command in its own process group (it is spawned detached) and ends the whole group when the parent process is
 * gone. Standard input closes then, even if the parent was killed with SIGKILL. Without this, killing wrangler would
 * leave its workerd processes running and the port in use.
 */
import { spawn } from 'node:child_process'

/** How long the command may take to stop by itself (ms). */
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
  process.kill(-process.pid, 'SIGKILL') // This ends this process too.
}

process.stdin.on('end', end).on('error', end).resume()
process.on('SIGTERM', end)
process.on('SIGHUP', end)
process.on('SIGINT', () => {}) // The parent process handles Ctrl-C.
child.on('error', killGroup)
child.on('exit', killGroup)
