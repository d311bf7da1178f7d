type Job = () => Promise<void>

/**
 * Owns: jobs that are done one after the other, in the order in which they came.
 * 1. A job begins when the one before it has ended. Jobs of `post` never reject.
 */
export class JobQueue {
  readonly #jobs: Job[] = []
  #running = false

  get busy(): boolean {
    return this.#running
  }

  post(job: Job): void {
    this.#jobs.push(job)
    if (this.#running) return
    this.#running = true
    void this.#drain()
  }

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.post(async () => {
        try {
          resolve(await work())
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  async #drain(): Promise<void> {
    for (let job = this.#jobs.shift(); job !== undefined; job = this.#jobs.shift()) await job()
    this.#running = false
  }
}
