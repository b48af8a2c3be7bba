//! Place of this process in a job, from the variables that its launcher has set.

use super::RanksError;
use crate::digest;

/// First of the ports that jobs are met at unless the launcher names one, and their number.
const FIRST_PORT: u16 = 61440;
const PORTS: u64 = 4096;

/// This host, for ranks that are all on it.
const LOOPBACK: &str = "127.0.0.1";

/// Place of this process in its job, as its launcher gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankPlace {
    /// Name of the program that started the process, for messages.
    pub launcher: &'static str,
    /// Number of this rank.
    pub rank: usize,
    /// Number of ranks.
    pub size: usize,
    /// Number of this rank among those of its host.
    pub local_rank: usize,
    /// Name of the job, the same for all ranks.
    pub job: String,
    /// Host and port where rank 0 is met, if the launcher says so.
    pub address: Option<(String, u16)>,
}

/// The environment variables of a launcher.
struct Variables<'a> {
    launcher: &'static str,
    get: &'a dyn Fn(&str) -> Option<String>,
}

impl Variables<'_> {
    fn text(&self, name: &str) -> Option<String> {
        (self.get)(name).filter(|value| !value.is_empty())
    }

    fn number(&self, name: &'static str) -> Result<Option<usize>, RanksError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.refused(name, "a whole number".to_owned())),
        }
    }

    fn refused(&self, name: &'static str, expected: String) -> RanksError {
        let found = self.text(name).unwrap_or_default();
        RanksError::Variable { launcher: self.launcher, name, found, expected }
    }

    /// Rank and size by their variables; none where one of them is missing.
    fn numbers(
        &self,
        rank: &'static str,
        size: &'static str,
    ) -> Result<Option<[usize; 2]>, RanksError> {
        if self.text(rank).is_none() || self.text(size).is_none() {
            return Ok(None);
        }
        let (Some(number), Some(ranks)) = (self.number(rank)?, self.number(size)?) else {
            return Ok(None);
        };
        if number >= ranks {
            return Err(self.refused(rank, format!("a number below {size} = {ranks}")));
        }
        Ok(Some([number, ranks]))
    }

    /// The place of a rank, the first of its host if its number there is not known. Rank 0 is met on `host`, if it is
    /// known, at the port of the job.
    fn place(
        &self,
        [rank, size]: [usize; 2],
        local_rank: Option<usize>,
        job: String,
        host: Option<String>,
    ) -> RankPlace {
        let (launcher, local_rank) = (self.launcher, local_rank.unwrap_or(0));
        let address = host.map(|host| (host, port_of(&job)));
        RankPlace { launcher, rank, size, local_rank, job, address }
    }

    /// The first of some variables that is there, as the name of the job.
    fn job(&self, names: &[&str]) -> String {
        let found = names.iter().find_map(|name| self.text(name));
        found.unwrap_or_else(|| self.launcher.to_owned())
    }
}

impl RankPlace {
    /// The place that the launcher gives by the variables that `get` reads; none where no launcher is known
    /// to have started this process.
    ///
    /// A launcher that was started by another one comes first: torchrun, then `mpirun`, then Slurm.
    ///
    /// # Errors
    /// Variables that are no numbers or do not go together.
    pub fn find(get: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, RanksError> {
        for (launcher, of) in [
            ("torchrun", Self::of_torchrun as fn(&Variables<'_>) -> _),
            ("Open MPI", Self::of_open_mpi),
            ("PMI", Self::of_pmi),
            ("Slurm", Self::of_slurm),
        ] {
            let found: Result<Option<Self>, RanksError> = of(&Variables { launcher, get });
            if let Some(place) = found? {
                return Ok(Some(place));
            }
        }
        match get("PMIX_RANK") {
            Some(_) => Err(RanksError::NoSize { name: "PMIX_RANK" }),
            None => Ok(None),
        }
    }

    /// `RANK`, `WORLD_SIZE`, `LOCAL_RANK`, `MASTER_ADDR`, `MASTER_PORT`, as PyTorch's documentation of
    /// torchrun has them. Its agent itself listens at the port where `TORCHELASTIC_USE_AGENT_STORE` is set:
    /// the ranks meet at the next one.
    fn of_torchrun(variables: &Variables<'_>) -> Result<Option<Self>, RanksError> {
        // The names are common ones: only all of them together are torchrun's.
        let (Some(host), Some(_)) = (variables.text("MASTER_ADDR"), variables.text("MASTER_PORT"))
        else {
            return Ok(None);
        };
        let Some(numbers) = variables.numbers("RANK", "WORLD_SIZE")? else { return Ok(None) };
        let port = variables.number("MASTER_PORT")?.unwrap_or_default();
        let refused = || variables.refused("MASTER_PORT", "the number of a port".to_owned());
        let port = u16::try_from(port).ok().filter(|port| *port > 0).ok_or_else(refused)?;
        let taken = variables.text("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|v| v == "True");
        let port = if taken { port.checked_add(1).unwrap_or(port - 1) } else { port };
        let run = variables.job(&["TORCHELASTIC_RUN_ID"]);
        let again = variables.text("TORCHELASTIC_RESTART_COUNT").unwrap_or_default();
        let job = format!("{run} {again} {host} {port}");
        let place = variables.place(numbers, variables.number("LOCAL_RANK")?, job, None);
        Ok(Some(Self { address: Some((host, port)), ..place }))
    }

    /// `OMPI_COMM_WORLD_RANK`, `_SIZE`, `_LOCAL_RANK`. Where ranks are on several hosts the first is taken to
    /// be on that of `mpirun`, which `OMPI_MCA_orte_hnp_uri` names in version 4 and the namespace in version 5.
    fn of_open_mpi(variables: &Variables<'_>) -> Result<Option<Self>, RanksError> {
        let numbers = variables.numbers("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")?;
        let Some(numbers) = numbers else { return Ok(None) };
        let uri = variables.text("OMPI_MCA_orte_hnp_uri");
        let namespace = variables.text("PMIX_NAMESPACE");
        let job = variables.job(&["PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri"]);
        let local = variables.number("OMPI_COMM_WORLD_LOCAL_SIZE")? == Some(numbers[1]);
        let host = if local {
            Some(LOOPBACK.to_owned())
        } else {
            uri.as_deref()
                .and_then(uri_host)
                .or_else(|| namespace.as_deref().and_then(prterun_host))
        };
        let local_rank = variables.number("OMPI_COMM_WORLD_LOCAL_RANK")?;
        Ok(Some(variables.place(numbers, local_rank, job, host)))
    }

    /// `PMI_RANK`, `PMI_SIZE`, and `MPI_LOCALRANKID`, `MPI_LOCALNRANKS` of the Hydra process manager: `mpiexec` of MPICH
    /// and of Intel MPI, and others that speak PMI.
    fn of_pmi(variables: &Variables<'_>) -> Result<Option<Self>, RanksError> {
        let Some([rank, size]) = variables.numbers("PMI_RANK", "PMI_SIZE")? else {
            return Ok(None);
        };
        let slurm = Self::of_slurm(&Variables { launcher: "Slurm", ..*variables })?;
        let (job, of_slurm, address) = match slurm.filter(|slurm| slurm.size == size) {
            Some(slurm) => (slurm.job, Some(slurm.local_rank), slurm.address),
            None => (variables.job(&["PMI_JOBID"]), None, None),
        };
        let local = variables.number("MPI_LOCALNRANKS")? == Some(size);
        let local_rank = variables.number("MPI_LOCALRANKID")?.or(of_slurm);
        let (local_rank, host) = (local_rank.or(local.then_some(rank)), local.then_some(LOOPBACK));
        let place = variables.place([rank, size], local_rank, job, host.map(str::to_owned));
        Ok(Some(Self { address: place.address.or(address), ..place }))
    }

    /// `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS` or `SLURM_NTASKS`, `SLURM_LOCALID`, and the first host of
    /// `SLURM_STEP_NODELIST`, which a step alone has: a script of `sbatch` is no rank.
    fn of_slurm(variables: &Variables<'_>) -> Result<Option<Self>, RanksError> {
        let Some(hosts) = variables.text("SLURM_STEP_NODELIST") else { return Ok(None) };
        let of_step = variables.text("SLURM_STEP_NUM_TASKS").is_some();
        let size = if of_step { "SLURM_STEP_NUM_TASKS" } else { "SLURM_NTASKS" };
        let Some(numbers) = variables.numbers("SLURM_PROCID", size)? else { return Ok(None) };
        let step = variables.text("SLURM_STEP_ID").unwrap_or_default();
        let job = format!("{}.{step}", variables.job(&["SLURM_JOB_ID"]));
        let host = match variables.number("SLURM_STEP_NUM_NODES")? {
            Some(1) => Some(LOOPBACK.to_owned()),
            _ => first_host(&hosts),
        };
        let local_rank = variables.number("SLURM_LOCALID")?;
        Ok(Some(variables.place(numbers, local_rank, job, host)))
    }

    /// The number by which the ranks of this job know each other.
    pub(super) fn token(&self) -> u64 {
        digest::of(&[self.job.as_bytes(), &self.size.to_le_bytes()].concat())
    }
}

/// A port for a job that names none, apart from those of most services.
fn port_of(job: &str) -> u16 {
    FIRST_PORT + (digest::of(job.as_bytes()) % PORTS) as u16
}

/// The first host of a list of Slurm's: `a` of `a,b`, `n007` of `n[007-009,12],m3`, `r1n0` of `r[1-2]n[0-3]`.
fn first_host(list: &str) -> Option<String> {
    let mut host = String::new();
    let mut rest = list.trim();
    loop {
        let end = rest.find(['[', ',']).unwrap_or(rest.len());
        host += &rest[..end];
        match rest[end..].strip_prefix('[') {
            None => break,
            Some(numbers) => {
                let (numbers, after) = numbers.split_once(']')?;
                host += numbers.split([',', '-']).next()?;
                rest = after;
            }
        }
    }
    Some(host).filter(|host| !host.is_empty())
}

/// The first address of `1531576320.0;tcp://10.96.0.1,10.148.0.1:34911` or `…;tcp6://[fe80::1,2620::2]:43370`.
fn uri_host(uri: &str) -> Option<String> {
    if let Some((_, hosts)) = uri.split_once("tcp6://[") {
        return hosts.split([',', ']']).next().map(str::to_owned);
    }
    let (_, hosts) = uri.split_once("tcp://")?;
    hosts.split([',', ':']).next().filter(|host| !host.is_empty()).map(str::to_owned)
}

/// The host of `prterun-HOST-PID@1`.
fn prterun_host(namespace: &str) -> Option<String> {
    let name = namespace.strip_prefix("prterun-")?.rsplit_once('@')?.0;
    let (host, process) = name.rsplit_once('-')?;
    process.parse::<u64>().ok().map(|_| host.to_owned())
}
