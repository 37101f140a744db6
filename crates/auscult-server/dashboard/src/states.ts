// What states mean for the pages: their order, who needs somebody, who may act.

import type { Machine, Role, State } from "./api";

/** The worst first. */
export const STATES: State[] = ["alarm", "sensor-fault", "alert", "no-data", "learning", "not-running", "normal"];

const ATTENTION = new Set<State>(["alarm", "sensor-fault", "alert", "no-data"]);

/** Whether somebody should look at a machine now. */
export function needsSomebody(machine: Machine): boolean {
  if (machine.out_of_service !== null || machine.shelved !== null) return false;
  return ATTENTION.has(machine.state) || machine.drift;
}

/** Whether the last clip was anomalous: only then its reason explains an alarm. */
export const isAnomalous = (machine: Machine): boolean =>
  machine.score !== null && machine.score > (machine.model?.threshold ?? Infinity);

export const maySee = (role: Role | undefined, wanted: Role): boolean => {
  const order: Role[] = ["viewer", "operator", "administrator"];
  return role !== undefined && order.indexOf(role) >= order.indexOf(wanted);
};
