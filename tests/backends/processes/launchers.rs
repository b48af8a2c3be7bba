//! The environment variables of launchers.

use gridgen::ranks::{RankPlace, RanksError, Rendezvous};

/// The place given by `NAME=value` variables.
fn found(variables: &str) -> Result<Option<RankPlace>, RanksError> {
    let variables: Vec<(&str, &str)> =
        variables.split_whitespace().map(|pair| pair.split_once('=').unwrap()).collect();
    let get = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    RankPlace::find(&get)
}

/// Variables; launcher, rank and size, rank on its host, and the host of rank 0 with the port, if that is given.
const TABLE: [(&str, &str); 14] = [
    (
        "RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 MASTER_ADDR=node7 MASTER_PORT=29500",
        "torchrun: 3 of 8, here 1; node7:29500",
    ),
    // The port is in use by the store of torchrun.
    (
        "RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=localhost MASTER_PORT=29500 \
         TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=none",
        "torchrun: 0 of 2, here 0; localhost:29501",
    ),
    (
        "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 \
         OMPI_COMM_WORLD_LOCAL_SIZE=4 OMPI_MCA_orte_hnp_uri=1531576320.0;tcp://10.96.0.1,10.148.0.1:34911",
        "Open MPI: 5 of 8, here 1; 10.96.0.1:",
    ),
    (
        "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 \
         OMPI_MCA_orte_hnp_uri=1314521088.0;tcp6://[fe80::b9b:ac5d,2620:10d::2]:43370",
        "Open MPI: 5 of 8, here 1; fe80::b9b:ac5d:",
    ),
    (
        "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_RANK=1 \
         OMPI_COMM_WORLD_LOCAL_SIZE=4 PMIX_RANK=5 PMIX_NAMESPACE=prterun-gpu-node3-4711@1",
        "Open MPI: 5 of 8, here 1; gpu-node3:",
    ),
    (
        "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 \
         OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE=prterun-gpu-node3-4711@1",
        "Open MPI: 1 of 2, here 1; 127.0.0.1:",
    ),
    (
        "PMI_RANK=1 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4",
        "PMI: 1 of 4, here 1; 127.0.0.1:",
    ),
    ("PMI_RANK=3 PMI_SIZE=4 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2", "PMI: 3 of 4, here 1; nowhere"),
    (
        "PMI_RANK=3 PMI_SIZE=4 SLURM_PROCID=3 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1 SLURM_JOB_ID=7 \
         SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_ID=0",
        "PMI: 3 of 4, here 1; n1:",
    ),
    (
        "SLURM_PROCID=9 SLURM_NTASKS=16 SLURM_LOCALID=1 SLURM_JOB_ID=4711 SLURM_STEP_ID=2 \
         SLURM_STEP_NODELIST=gpu[007-009,12],other3",
        "Slurm: 9 of 16, here 1; gpu007:",
    ),
    // A step with fewer tasks than its job, under PMIx.
    (
        "SLURM_PROCID=1 SLURM_NTASKS=16 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0 SLURM_JOB_ID=1 \
         SLURM_STEP_NODELIST=a12,b PMIX_RANK=1",
        "Slurm: 1 of 2, here 0; a12:",
    ),
    (
        "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=1 SLURM_JOB_ID=1 SLURM_STEP_NUM_NODES=1 \
         SLURM_STEP_NODELIST=rack[1-2]node[0-3]",
        "Slurm: 1 of 2, here 1; 127.0.0.1:",
    ),
    // If launchers are nested, the inner one counts.
    (
        "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_STEP_NODELIST=n1 OMPI_COMM_WORLD_RANK=2 \
         OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_SIZE=4",
        "Open MPI: 2 of 4, here 0; 127.0.0.1:",
    ),
    (
        "SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NODELIST=n[1,4] RANK=4 WORLD_SIZE=8 \
         LOCAL_RANK=0 MASTER_ADDR=n1 MASTER_PORT=65535 TORCHELASTIC_USE_AGENT_STORE=True",
        "torchrun: 4 of 8, here 0; n1:65534",
    ),
];

#[test]
fn launchers_are_known_by_their_variables() {
    for (variables, expected) in TABLE {
        let place = found(variables).unwrap().unwrap_or_else(|| panic!("{variables}"));

        let RankPlace { rank, size, local_rank, .. } = place;
        let at =
            place.address.map_or("nowhere".to_owned(), |(host, port)| format!("{host}:{port}"));
        let said = format!("{}: {rank} of {size}, here {local_rank}; {at}", place.launcher);
        assert!(said.starts_with(expected), "{variables}: {said}");
    }
}

#[test]
fn ranks_of_one_job_meet_at_one_port_and_those_of_another_elsewhere() {
    let address = |rank: usize, job: usize| {
        let variables = format!(
            "SLURM_PROCID={rank} SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID={} SLURM_JOB_ID={job} \
             SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_ID=0",
            rank % 2
        );
        found(&variables).unwrap().unwrap().address.unwrap()
    };

    assert!((1..4).all(|rank| address(rank, 7) == address(0, 7)));
    assert_ne!(address(0, 7), address(0, 8));
    assert!(address(0, 7).1 >= 61440);
}

#[test]
fn a_process_that_nothing_launched_is_on_its_own() {
    for variables in [
        "",
        "HOME=/root",
        // Common variable names, but not all that a launcher sets.
        "RANK=general",
        "RANK=1 WORLD_SIZE=4",
        // A batch script of sbatch is not a step.
        "SLURM_JOB_ID=5 SLURM_NTASKS=8 SLURM_PROCID=0 SLURM_LOCALID=0",
        "OMPI_COMM_WORLD_RANK=",
    ] {
        assert_eq!(found(variables), Ok(None), "{variables}");
    }
}

#[test]
fn variables_that_do_not_go_together_are_named() {
    for (variables, message) in [
        (
            "OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=4",
            "Open MPI has set OMPI_COMM_WORLD_RANK = \"4\": expected a number below \
             OMPI_COMM_WORLD_SIZE = 4",
        ),
        (
            "SLURM_PROCID=one SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=n1",
            "Slurm has set SLURM_PROCID = \"one\": expected a whole number",
        ),
        (
            "RANK=0 WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=99999",
            "torchrun has set MASTER_PORT = \"99999\": expected the number of a port",
        ),
        // A variable of Slurm is not called that of the launcher within it.
        (
            "PMI_RANK=0 PMI_SIZE=4 SLURM_PROCID=one SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NODELIST=n1",
            "Slurm has set SLURM_PROCID = \"one\": expected a whole number",
        ),
        (
            "RANK=0 WORLD_SIZE=2 MASTER_ADDR=n1 MASTER_PORT=0",
            "torchrun has set MASTER_PORT = \"0\": expected the number of a port",
        ),
        ("PMIX_RANK=3", "the environment has PMIX_RANK and no number of ranks"),
    ] {
        let refused = found(variables).unwrap_err();

        assert_eq!(refused.to_string(), message);
        assert!(refused.hint().unwrap().contains("srun"), "{refused}");
    }
}

#[test]
fn a_rendezvous_is_a_port_of_a_host_or_a_file() {
    let address = |host: &str, port| Ok(Rendezvous::Address(host.to_owned(), port));
    assert_eq!("node3:4000".parse(), address("node3", 4000));
    assert_eq!("[fe80::1]:4000".parse(), address("fe80::1", 4000));
    assert_eq!("file:/shared/run".parse(), Ok(Rendezvous::File("/shared/run".into())));
    for text in ["", "node3", "node3:", ":4000", "node3:0", "node3:70000", "file:"] {
        let refused = text.parse::<Rendezvous>().unwrap_err();
        assert_eq!(refused, RanksError::Rendezvous { found: text.to_owned() });
        assert!(refused.hint().unwrap().contains("--rendezvous host:port"));
    }
}
