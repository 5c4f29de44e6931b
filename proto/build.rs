//! Compiles the .proto files without protoc. The list is explicit, since compiling descriptors emits no
//! `rerun-if-changed` of its own.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=pgsurge/v1");
    let descriptors = protox::compile(["pgsurge/v1/fleet.proto"], ["."])?;
    tonic_prost_build::configure()
        .btree_map(".")
        // The one message that holds secrets prints itself by hand.
        .skip_debug([".pgsurge.v1.Secret"])
        .compile_fds(descriptors)?;
    Ok(())
}
