/**
 * Until the returned function is called, what is written to standard output goes to standard error: the results of a command stay
 * free of what the code of a user prints.
 */
export function stdoutAside(): () => void {
  const { stdout, stderr } = process
  const before = stdout.write
  const aside = stderr.write.bind(stderr) as typeof stdout.write
  stdout.write = aside
  return () => {
    if (stdout.write === aside) stdout.write = before
  }
}
